// What the pass of a plug-in worked on when it ended the process, or did not end: written by a
// signal handler or the watchdog, from what was made ready before the pass began.
#pragma once

#include <string>

#include "executor/cli/fault_line.h"

namespace tenon::cli {

struct FaultReproducer {
  std::string graph_path, script_path;
  std::string script;
};

// While a pass runs that may be a plug-in's; null when it is over. It is kept by the caller.
void SetFaultReproducer(const FaultReproducer* reproducer);

// If a plug-in's pass is running: writes the graph that it was given, and the script, and names the
// script in the line. Async-signal-safe.
void AddFaultReproducer(FaultLine& line);

}  // namespace tenon::cli
