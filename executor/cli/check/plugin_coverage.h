// How much of plug-ins the cases of `check` have tested: a case that never ran a kernel of one says
// nothing of it.
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

class PluginCoverage {
 public:
  explicit PluginCoverage(const std::vector<CheckedCases::Plugin>& plugins);

  // A case of the file of this op.
  void Add(std::string_view op, const CaseRecord& record);

  // An object for each plug-in: "path", "cases", "ops" and "kernels" (cases by the op that they
  // test and by the op whose kernel ran).
  Json PluginsJson() const;
  // Cases by pass that changed their graphs.
  Json PassesJson() const;
  // A line and a table for each plug-in; empty without plug-ins.
  std::string Text(const Style& style) const;
  // What went untested, and passes that failed; one line each.
  std::vector<std::string> Warnings() const;

 private:
  using Counts = std::map<std::string, int64_t, std::less<>>;
  struct Plugin {
    std::string path;
    int registered = 0;  // kernels
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
