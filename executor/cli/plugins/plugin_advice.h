// What stands between a plug-in and its use here, and what to do about it.
#pragma once

#include <string>
#include <vector>

#include "executor/cli/plugins/plugin_probe.h"
#include "plugin/host/link/link_check.h"

namespace tenon::cli {

struct PluginProblem {
  bool fatal = false;  // it does not load
  std::string what;
  std::string advice;
};

// Fatal ones first.
std::vector<PluginProblem> PluginProblems(const LinkReport& links, const PluginProbe& probe);

}  // namespace tenon::cli
