// Tells the extension that an instruction needs by its first bytes.

#include "executor/cli/faults/illegal_instruction.h"

#include <cstdint>

namespace tenon::cli {
namespace {

// First bytes. VEX and EVEX are the encodings of AVX and of AVX-512.
constexpr uint8_t kEvex = 0x62, kVex2 = 0xc5, kVex3 = 0xc4, kTwoByte = 0x0f, kUd2 = 0x0b;

const char* OfAvx512() {
  return __builtin_cpu_supports("avx512f")
             ? "SIGILL (an instruction of a part of AVX-512 that this processor does not have)"
             : "SIGILL (an instruction of AVX-512, which this processor does not have)";
}

const char* OfAvx() {
  if (!__builtin_cpu_supports("avx"))
    return "SIGILL (an instruction of AVX, which this processor does not have)";
  if (!__builtin_cpu_supports("avx2"))
    return "SIGILL (an instruction of AVX2 or later, which this processor does not have)";
  return "SIGILL (an instruction encoded as those of AVX, of an extension that this processor does "
         "not have)";
}

}  // namespace

const char* TextOfIllegalInstruction(const void* address) {
  const auto* const code = static_cast<const uint8_t*>(address);
  if (code == nullptr) return "SIGILL (illegal instruction)";
  switch (code[0]) {
    case kEvex:
      return OfAvx512();
    case kVex2:
    case kVex3:
      return OfAvx();
    // The compiler puts ud2 where it knows that the program cannot go on.
    case kTwoByte:
      if (code[1] == kUd2) return "SIGILL (a trap that its compiler put there, ud2)";
      break;
  }
  return "SIGILL (illegal instruction)";
}

}  // namespace tenon::cli
