// Says why the processor refused an instruction.
#pragma once

namespace tenon::cli {

// "SIGILL (…)" for the instruction at this address, which the processor has just refused: the
// family of the instruction, and whether the processor lacks it. The text is static.
// Async-signal-safe. `address` may be null.
const char* TextOfIllegalInstruction(const void* address);

}  // namespace tenon::cli
