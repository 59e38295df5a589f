// Why the processor refused an instruction.
#pragma once

namespace tenon::cli {

// "SIGILL (…)" for the instruction at this address, which the processor has just refused: of which
// family it is, and whether the processor lacks that. Async-signal-safe.
const char* TextOfIllegalInstruction(const void* address);

}  // namespace tenon::cli
