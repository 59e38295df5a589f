// What every command line may say: what is printed, which plug-ins there are, how long it may take.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "executor/cli/options/declarer.h"

namespace tenon::cli {

// What is printed, and how much of it.
struct OutputFlags {
  bool json = false;
  bool quiet = false;
  bool verbose = false;

  void DeclareOutput(Declarer& d);
};

struct CommonFlags : OutputFlags {
  std::vector<std::string> paths;  // MODEL, the PATHs of check, SO, NAME and DIR

  std::vector<std::string> plugins;  // PATH[;key=value...]
  bool fail_on_plugin_errors = false;
  bool strict_abi = false;
  std::optional<double> timeout_s;

  void DeclarePlugins(Declarer& d);
  void DeclareTimeout(Declarer& d);
  // `what`: what happens to whatever takes longer.
  void DeclareTimeout(Declarer& d, const char* what);
};

inline constexpr double kDefaultCallbackTimeout = 60;  // seconds

// A line on stderr, not with --quiet.
void Warn(const OutputFlags& flags, std::string_view message);
// A line on stderr: an error or a defect, as it is.
void PrintErrorLine(std::string_view message);

}  // namespace tenon::cli
