#include <cstring>

#include "plugin/cpu/linalg/products/small_gemm.h"

namespace tenon::cpu::sse2 {
#include "plugin/cpu/base/vec_sse2.inc"

#include "plugin/cpu/linalg/products/small_gemm_impl.inc"
}  // namespace tenon::cpu::sse2
