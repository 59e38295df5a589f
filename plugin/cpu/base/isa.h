// The instruction set that the CPU kernels use.
//
// A file *_isa.inc is compiled once for each set (cmake/TenonTargets.cmake). Each copy has its own
// namespace: sse2, avx2 or avx512. Helpers stand in anonymous namespaces inside that namespace.
// Without them the linker could merge an AVX-512 copy of a helper into SSE2 code (DESIGN.md).
#pragma once

#include "absl/status/status.h"

namespace tenon::cpu {

enum class Isa {
  kSse2,   // the baseline of x86-64
  kAvx2,   // AVX2 with FMA and F16C
  kAvx512  // AVX-512 F, BW, DQ and VL
};

// Returns the best set that this processor has. The environment variable TENON_ISA (baseline, avx2,
// avx512) lowers the set, for our kernels and for oneDNN: processors that all have the set of the
// limit then use the same one. The first call fixes the answer for the process. Thread-safe.
Isa CpuIsa();
// Returns whether TENON_ISA is set and not empty, whatever its value. This function and the next
// one read the variable at each call.
bool IsaIsLimited();
// Returns INVALID_ARGUMENT if TENON_ISA has a value other than baseline, avx2 or avx512. CpuIsa()
// ignores such a value. OK if the variable is not set or empty.
absl::Status CheckIsaVariable();

// Returns the argument that belongs to CpuIsa().
template <typename T>
T SelectIsa(T sse2, T avx2, T avx512) {
  switch (CpuIsa()) {
    case Isa::kAvx512:
      return avx512;
    case Isa::kAvx2:
      return avx2;
    case Isa::kSse2:
      break;
  }
  return sse2;
}

}  // namespace tenon::cpu
