// Writes the graph that a pass was given, and beside it a script that runs the pass again.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "executor/cli/faults/fault_line.h"

namespace tenon::cli {

// The content of the two files. Their names are `base` and a fingerprint of the graph, so that
// there is one pair for each pass and graph, however often the pass fails on it.
struct Reproducer {
  std::string base;  // path without "_", the fingerprint and ".pb" or ".sh"; its folder must exist
  std::string reason;                      // why the pass failed, in one line
  std::string command;                     // for a shell; names the graph by kReproducedGraph
  std::vector<std::string_view> literals;  // of LiteralsOfPlugins; must be valid while used
};
// The graph's file beside the script, as the script's shell finds it.
inline constexpr char kReproducedGraph[] = "\"${0%.sh}.pb\"";

// The path of a script that was written. Holds no allocated memory.
class ScriptPath {
 public:
  const char* c_str() const { return text_; }

 private:
  friend bool WriteReproducer(const Reproducer& reproducer, std::string_view graph,
                              ScriptPath& script);
  char text_[4096] = {};
};

// Writes both files. `graph` is the content of the graph's file. Returns true, with the script's
// path in `script`, if both files are there. Returns false if a file cannot be written or the path
// is too long for ScriptPath: then the text of `script` means nothing, and the graph's file may be
// there. A graph file of this user and of the same size stays; any other file of either name is
// replaced. Async-signal-safe.
bool WriteReproducer(const Reproducer& reproducer, std::string_view graph, ScriptPath& script);

// Says what to write if the plug-in's pass that runs next ends the process or does not return; null
// when the pass is over. `reproducer` is borrowed and must live until then. For the whole process.
void SetFaultReproducer(const Reproducer* reproducer);

// If a plug-in's pass is running and SetFaultReproducer has set a reproducer, writes it for the
// graph that the pass was given (GraphInPluginPass), and names the script in the line. Otherwise,
// or if the files cannot be written, leaves the line alone. Async-signal-safe.
void AddFaultReproducer(FaultLine& line);

}  // namespace tenon::cli
