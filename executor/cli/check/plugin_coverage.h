// Counts how much of plug-ins the cases of `check` have tested: a case that ran no kernel of a
// plug-in says nothing about its kernels.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "executor/cli/check/check_workers.h"
#include "executor/values/json.h"
#include "executor/values/text.h"

namespace tenon::cli {

// Add every record, then ask for reports. A case counts for a plug-in if the run that computed the
// fetches ran a kernel of the plug-in, whether or not the case passed. Not thread-safe.
class PluginCoverage {
 public:
  explicit PluginCoverage(const std::vector<CheckedCases::Plugin>& plugins);

  // Counts a case of the file that tests `op`. A record of a file as a whole (no name) counts as
  // one case too.
  void Add(std::string_view op, const CaseRecord& record);

  // An array with an object for each plug-in: "path", "cases", "ops" and "kernels". "cases" is the
  // number of cases that count for the plug-in. "ops" splits it by the op that the case tests.
  // "kernels" has, by the op of a kernel of the plug-in, the number of cases in which it ran.
  Json PluginsJson() const;
  // An object: by name of a pass of a plug-in, the number of cases whose graphs the pass changed.
  Json PassesJson() const;
  // For each plug-in its path, a line on how many of all cases count for it (or that it has no
  // kernels), and a table if any does; then a line for each pass that changed graphs. Empty without
  // plug-ins.
  std::string Text(const Style& style) const;
  // First a line for each failure of a pass, with the number of cases; of each case the first pass
  // that failed counts. A pass that failed for two reasons has two lines. Then a line for each
  // plug-in with kernels of which no case ran any. If a case crashed, plug-ins get no such lines,
  // since a crashed case cannot say what it ran.
  std::vector<std::string> Warnings() const;

 private:
  using Counts = std::map<std::string, int64_t, std::less<>>;
  struct Plugin {
    std::string path;
    int registered = 0;  // kernels of the plug-in
    int64_t cases = 0;
    Counts ops, kernels;
    std::map<std::string, Counts, std::less<>> kernels_by_op;
  };

  std::vector<Plugin> plugins_;
  int64_t cases_ = 0, crashed_ = 0;
  Counts changing_passes_;
  Counts failed_passes_;  // by CaseResult::failed_pass
};

}  // namespace tenon::cli
