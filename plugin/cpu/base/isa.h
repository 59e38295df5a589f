// Which instruction set the CPU kernels use. A file *_isa.inc is compiled once for each set, in a
// namespace of its own (sse2, avx2, avx512) and with anonymous ones inside, so that nothing compiled
// for one set is merged into another (cmake/TenonTargets.cmake, DESIGN.md).
#pragma once

#include "absl/status/status.h"

namespace tenon::cpu {

enum class Isa { kSse2, kAvx2, kAvx512 };

// The best set that this machine has. The environment variable TENON_ISA (baseline, avx2, avx512)
// lowers it, oneDNN's too: for the same bits on every machine. Fixed at the first call.
Isa CpuIsa();
bool IsaIsLimited();  // by the variable
// INVALID_ARGUMENT if the variable is something else.
absl::Status CheckIsaVariable();

// The entry of `sse2`, `avx2`, `avx512` that this machine runs.
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
