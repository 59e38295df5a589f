// Finds what keeps a plug-in from being used here, and what to do about it.
#pragma once

#include <string>
#include <vector>

#include "executor/cli/plugins/plugin_probe.h"
#include "plugin/host/link/link_check.h"

namespace tenon::cli {

// A problem, in a sentence, and the advice.
struct PluginProblem {
  bool fatal = false;  // the plug-in does not load
  std::string what;
  std::string advice;
};

// The problems of a plug-in, fatal ones first. `links` and `probe` are of the same file.
std::vector<PluginProblem> PluginProblems(const LinkReport& links, const PluginProbe& probe);

}  // namespace tenon::cli
