// Flags of every command line: what is printed, which plug-ins are loaded, how long it may take.
// Declare methods declare the flags of their group.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "executor/cli/options/declarer.h"

namespace tenon::cli {

// How much is printed, and in which form.
struct OutputFlags {
  bool json = false;
  bool quiet = false;
  bool verbose = false;

  void DeclareOutput(Declarer& d);
};

struct CommonFlags : OutputFlags {
  std::vector<std::string> paths;  // the arguments: MODEL, the PATHs of check, SO, NAME and DIR

  std::vector<std::string> plugins;  // PATH[;key=value...]
  bool fail_on_plugin_errors = false;
  bool strict_abi = false;
  // Nothing: no limit for the work, kDefaultCallbackTimeout for a callback.
  std::optional<double> timeout_s;

  void DeclarePlugins(Declarer& d);
  void DeclareTimeout(Declarer& d);
  // `what`: the help text, which says what happens to work that takes longer.
  void DeclareTimeout(Declarer& d, const char* what);
};

inline constexpr double kDefaultCallbackTimeout = 60;  // seconds

// Prints a line to stderr, unless --quiet was given.
void Warn(const OutputFlags& flags, std::string_view message);
// Prints a line to stderr, with line ends in it as blanks. Flushes stdout first, so that the two
// streams keep their order.
void PrintErrorLine(std::string_view message);

}  // namespace tenon::cli
