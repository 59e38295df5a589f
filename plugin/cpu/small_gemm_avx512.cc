#include <immintrin.h>

#include "plugin/cpu/small_gemm.h"

namespace tenon::cpu::avx512 {
#include "plugin/cpu/vec_avx512.inc"

#include "plugin/cpu/small_gemm_impl.inc"
}  // namespace tenon::cpu::avx512
