// What the pass of a plug-in was given, and how to run it again: a graph and a script beside it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "executor/cli/faults/fault_line.h"

namespace tenon::cli {

// Both files have the name `base` and a number that tells the graph, so that there is one pair for
// each pass and graph, however often the pass fails on it.
struct Reproducer {
  std::string base;
  std::string reason;                      // why the pass failed, in one line
  std::string command;                     // a shell's; it names the graph by kReproducedGraph
  std::vector<std::string_view> literals;  // of plug-ins, as WriteEnvironment wants them
};
inline constexpr char kReproducedGraph[] = "\"${0%.sh}.pb\"";

// The path of a reproducer's script.
class ScriptPath {
 public:
  const char* c_str() const { return text_; }

 private:
  friend bool WriteReproducer(const Reproducer& reproducer, std::string_view graph,
                              ScriptPath& script);
  char text_[4096] = {};
};

// Writes both files; whether it could. A graph that is there already stays. Async-signal-safe.
bool WriteReproducer(const Reproducer& reproducer, std::string_view graph, ScriptPath& script);

// What to write if a plug-in's pass ends the process, or does not end: while one runs that may;
// null when it is over. It is kept by the caller.
void SetFaultReproducer(const Reproducer* reproducer);

// If a plug-in's pass is running: writes that for the graph that it was given, and names the script
// in the line. Async-signal-safe.
void AddFaultReproducer(FaultLine& line);

}  // namespace tenon::cli
