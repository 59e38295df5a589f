// Where in whose code a fault happened, for the last words of a process.
#pragma once

#include "executor/cli/faults/fault_line.h"

namespace tenon::cli {

// Adds the calls that this thread is in, innermost first: " (at libx.so+0x12ab (Exported+0x1b),
// called by libx.so+0x1234)". Offsets are those that addr2line takes; names are those that the
// library exports. Begins where the thread was interrupted if a signal did that, and ends where the
// host called. Async-signal-safe. A stack that is no stack may end in a signal of its own: the
// caller has to expect that.
void AddBackTrace(FaultLine& line);

}  // namespace tenon::cli
