#include <immintrin.h>

#include "plugin/cpu/linalg/products/small_gemm.h"

namespace tenon::cpu::avx512 {
#include "plugin/cpu/base/vec_avx512.inc"

#include "plugin/cpu/linalg/products/small_gemm_impl.inc"
}  // namespace tenon::cpu::avx512
