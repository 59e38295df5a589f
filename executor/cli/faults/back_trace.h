// Names the place of a fault and its callers, for the last message of a process.
#pragma once

#include "executor/cli/faults/fault_line.h"

namespace tenon::cli {

// Adds the calls that this thread is in, innermost first: " (at libx.so+0x12ab (Exported+0x1b),
// called by libx.so+0x1234)". Offsets are those that addr2line takes; names are those that the
// library exports, cut at 64 bytes. At most 8 calls are shown. The list begins where a signal
// interrupted the thread; without a signal, at the innermost call outside of the host. If code of a
// plug-in is among the calls, the list ends where the host called the plug-in. Adds nothing if
// there is no call to show. Async-signal-safe. Walking a damaged stack may raise another signal,
// which the caller must expect.
void AddBackTrace(FaultLine& line);

}  // namespace tenon::cli
