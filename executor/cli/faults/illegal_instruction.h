// Says why the processor refused an instruction.
#pragma once

namespace tenon::cli {

// "SIGILL (…)" for the instruction at this address, which the processor has just refused. Where the
// first byte is that of VEX or EVEX, the encodings of AVX and AVX-512, the text says what the
// processor lacks. Of ud2 it says that the compiler put a trap there. Other instructions, and a
// null `address`, are "SIGILL (illegal instruction)". The text is static. Async-signal-safe.
const char* TextOfIllegalInstruction(const void* address);

}  // namespace tenon::cli
