#pragma once

#include <cstdint>

#include "tenon/export.h"

namespace tenon {

// Starts (true) or stops (false) counting the heap allocations of the process; how many were
// counted so far.
using AllocationCounter = int64_t (*)(bool count);

// The command `graph_run`: runs it with a program's arguments and returns its exit code. Prints to
// stdout and stderr, handles fatal signals, and throws nothing. `allocations` may be null: `bench`
// then does not report them.
TENON_EXPORT int GraphRunMain(int argc, char** argv, AllocationCounter allocations = nullptr);

}  // namespace tenon
