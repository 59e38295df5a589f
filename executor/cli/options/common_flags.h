// Flags that commands share: what is printed, which plug-ins are loaded, how long the command may
// take. Each Declare method declares some of the flags, which parsing then writes into the members.
// A command need not declare all of them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "executor/cli/options/declarer.h"

namespace tenon::cli {

// How much is printed, and in which form.
struct OutputFlags {
  bool json = false;     // one JSON document on stdout and nothing else
  bool quiet = false;    // no progress and no warnings
  bool verbose = false;  // more detail

  void DeclareOutput(Declarer& d);
};

struct CommonFlags : OutputFlags {
  std::vector<std::string> paths;  // the arguments: MODEL, the PATHs of check, SO, NAME and DIR

  std::vector<std::string> plugins;  // --plugin, as given: PATH[;key=value...]
  // --plugin-errors=fail: a plug-in's pass that fails ends the command with kPluginFault.
  bool fail_on_plugin_errors = false;
  // --abi-check=strict: calls of plug-ins are watched, and a broken rule is kPluginFault.
  bool strict_abi = false;
  // --timeout in seconds, above 0: the limit of the whole work and of each callback of a plug-in.
  // Nothing: no limit for the work, kDefaultCallbackTimeout for a callback. Commands that watch
  // processes of their own apply it to each process or case.
  std::optional<double> timeout_s;

  void DeclarePlugins(Declarer& d);
  // With the usual help text: the command ends with code 6.
  void DeclareTimeout(Declarer& d);
  // `what`: another help text, which says what happens to work that takes longer.
  void DeclareTimeout(Declarer& d, const char* what);
};

inline constexpr double kDefaultCallbackTimeout = 60;  // seconds

// Prints PrintErrorLine("warning: " + message), unless --quiet was given.
void Warn(const OutputFlags& flags, std::string_view message);
// Prints OneLine(message) and a line end to stderr, with nothing in front. Flushes stdout first, so
// that the two streams keep their order. Thread-safe.
void PrintErrorLine(std::string_view message);

}  // namespace tenon::cli
