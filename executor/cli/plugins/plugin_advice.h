// Finds what keeps a plug-in from being used here, and what to do about it.
#pragma once

#include <string>
#include <vector>

#include "executor/cli/plugins/plugin_probe.h"
#include "plugin/host/link/link_check.h"

namespace tenon::cli {

struct PluginProblem {
  bool fatal = false;  // the plug-in did not load, and this may be why
  // The problem in a sentence. May have line ends, as it can quote the plug-in or the loader.
  std::string what;
  std::string advice;  // what to do, or what the problem means; never empty
};

// The problems of a plug-in, fatal ones first; empty if there are none. What was found in `links`
// alone is not fatal if the plug-in loaded; what `links` tells of entry points and of unique
// symbols is never fatal. `links` and `probe` are of the same file.
std::vector<PluginProblem> PluginProblems(const LinkReport& links, const PluginProbe& probe);

}  // namespace tenon::cli
