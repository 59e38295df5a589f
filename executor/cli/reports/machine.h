// Says which machine and which program a figure was measured with.
#pragma once

#include <string>
#include <string_view>

#include "executor/values/json.h"

namespace tenon::cli {

// The widest instruction set for which kernels are chosen: "baseline", "avx2" or "avx512".
std::string_view IsaName();

// "processor", "cores" (that this process may use, at least 1), "memory_bytes", "system", "isa" and
// "version", the program's. A text that the system does not tell is empty, and "memory_bytes" 0.
Json MachineJson();

// The command line of this process, quoted for a shell; empty if the system does not tell.
std::string CommandLineText();

}  // namespace tenon::cli
