#include <immintrin.h>

#include "plugin/cpu/small_gemm.h"

namespace tenon::cpu::avx2 {
#include "plugin/cpu/vec_avx2.inc"

#include "plugin/cpu/small_gemm_impl.inc"
}  // namespace tenon::cpu::avx2
