#include <cstring>

#include "plugin/cpu/small_gemm.h"

namespace tenon::cpu::sse2 {
#include "plugin/cpu/vec_sse2.inc"

#include "plugin/cpu/small_gemm_impl.inc"
}  // namespace tenon::cpu::sse2
