#include "executor/cli/options/common_flags.h"

#include <cstdio>

#include "absl/strings/str_cat.h"
#include "graph/base/one_line.h"

namespace tenon::cli {

void OutputFlags::DeclareOutput(Declarer& d) {
  d.Group(FlagGroup::kOutput);
  d.Flag("--json", json, "one JSON document on stdout, nothing else");
  d.Flag("--quiet", quiet, "no progress and no warnings");
  d.Flag("--verbose", verbose, "more detail: placement, plan");
}

void CommonFlags::DeclarePlugins(Declarer& d) {
  d.Group(FlagGroup::kDevices);
  d.Repeat("--plugin", plugins, "PATH[;K=V...]",
           "load a plug-in, or those of a folder; K=V: priority=N, as=TYPE, else set in the "
           "environment first (also: TENON_PLUGIN_PATH)");
  d.Choice("--plugin-errors", {"report", "fail"}, "report|fail",
           "a plug-in's pass that fails is rolled back; fail: exit 5",
           [this](const std::string& v) { fail_on_plugin_errors = v == "fail"; });
  d.Choice("--abi-check", {"off", "strict"}, "off|strict",
           "strict: watch how plug-ins use the interface; exit 5 where one breaks a rule",
           [this](const std::string& v) { strict_abi = v == "strict"; });
}

void CommonFlags::DeclareTimeout(Declarer& d) {
  DeclareTimeout(d, "exit 6 when the work, or one callback of a plug-in (60 s), takes longer");
}

void CommonFlags::DeclareTimeout(Declarer& d, const char* what) {
  d.Group(FlagGroup::kRuns);
  d.Real("--timeout", timeout_s, "S", what, Declarer::Bound::kAboveZero);
}

void Warn(const OutputFlags& flags, std::string_view message) {
  if (!flags.quiet) PrintErrorLine(absl::StrCat("warning: ", message));
}

void PrintErrorLine(std::string_view message) {
  const std::string line = OneLine(message) + "\n";
  fflush(stdout);
  fwrite(line.data(), 1, line.size(), stderr);
}

}  // namespace tenon::cli
