// Counts how much of plug-ins the cases of `check` have tested: a case that ran no kernel of a
// plug-in says nothing about it.
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

// Add every case, then ask for reports. Not thread-safe.
class PluginCoverage {
 public:
  explicit PluginCoverage(const std::vector<CheckedCases::Plugin>& plugins);

  // Counts a case of the file for this op.
  void Add(std::string_view op, const CaseRecord& record);

  // An object for each plug-in: "path", "cases", "ops" and "kernels". The last two count cases by
  // the op that they test and by the op of the kernel that ran.
  Json PluginsJson() const;
  // The number of cases that each pass changed.
  Json PassesJson() const;
  // A line and a table for each plug-in; empty without plug-ins.
  std::string Text(const Style& style) const;
  // One line for each plug-in that was not tested and for each pass that failed.
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
  Counts failed_passes_;  // by what went wrong
};

}  // namespace tenon::cli
