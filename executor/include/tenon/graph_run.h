#pragma once

#include <signal.h>

#include <cstdint>

#include "tenon/export.h"

namespace tenon {

// Starts (true) or stops (false) counting the heap allocations of the process. Returns how many
// were counted so far, in all periods of counting; -1 if they cannot be counted.
using AllocationCounter = int64_t (*)(bool count);

// The command `graph_run`: runs it with a program's arguments and returns its exit code. Prints to
// stdout and stderr, handles fatal signals, and throws nothing. `allocations` may be null: `bench`
// then does not report them.
TENON_EXPORT int GraphRunMain(int argc, char** argv, AllocationCounter allocations = nullptr);

// For a program that stands in front of the C library's _exit(): returns if the process may end
// here. If a plug-in asks for it during GraphRunMain, ends it with a message that says so, and code
// 5. `call` is what was called. Async-signal-safe.
TENON_EXPORT void GraphRunEnds(const char* call);

// For a program that stands in front of the C library's sigaction(): whether a plug-in asks, during
// GraphRunMain, to be told of its own faults. If true, the request is remembered and *old is the
// plug-in's request before; the caller must not call the C library's sigaction(). If false, nothing
// has changed and the caller must call it. `action` and `old` may be null. Async-signal-safe.
TENON_EXPORT bool GraphRunKeepsSignal(int number, const struct sigaction* action,
                                      struct sigaction* old);

}  // namespace tenon
