#pragma once

#include <signal.h>

#include <cstdint>

#include "tenon/export.h"

namespace tenon {

// A function that starts (true) or stops (false) counting the heap allocations of the process. It
// returns how many were counted so far, in all periods of counting; -1 if they cannot be counted.
using AllocationCounter = int64_t (*)(bool count);

// Runs the command `graph_run` with the arguments of main(); argv[0] is not read. Returns the exit
// code, which main() must return. Prints to stdout and stderr and installs handlers of fatal
// signals, which stay. Call it once in a process, on the main thread. `allocations` may be null:
// `bench` then reports no allocations.
TENON_EXPORT int GraphRunMain(int argc, char** argv, AllocationCounter allocations = nullptr);

// For a program that stands in front of functions of the C library that end the process or replace
// its program, such as _exit() and execve(). The program calls GraphRunEnds first. If a plug-in
// made the call, once GraphRunMain has installed its handlers, GraphRunEnds prints a message that
// names the plug-in and ends the process: with code 5 or, when the command is done, with the
// command's own code. Else it returns, also in a child that a plug-in forked, and the program goes
// on with the call. `call` is the function's name for the message, "_exit()", of which the first 32
// characters are printed. Async-signal-safe.
TENON_EXPORT void GraphRunEnds(const char* call);

// For a program that stands in front of the C library's sigaction(), with the arguments of that
// function. Returns true if a plug-in made the call, once GraphRunMain has installed its handlers,
// and `number` is a signal of a fault (SIGSEGV, not SIGALRM or SIGUSR1). Then the request is
// remembered, *old is the last request of a plug-in for this signal, and the program must answer 0
// without a call of the C library's sigaction(). The plug-in's handler is called for faults in code
// of plug-ins only, before the handler of GraphRunMain. Returns false otherwise, also in a child
// that a plug-in forked: nothing has changed, *old is not written, and the program must call the C
// library's sigaction(). `action` and `old` may be null. Async-signal-safe.
TENON_EXPORT bool GraphRunKeepsSignal(int number, const struct sigaction* action,
                                      struct sigaction* old);

}  // namespace tenon
