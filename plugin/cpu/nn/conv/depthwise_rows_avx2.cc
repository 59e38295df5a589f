#include <immintrin.h>

#include "plugin/cpu/nn/conv/depthwise_rows.h"

namespace tenon::cpu::avx2 {
#include "plugin/cpu/base/vec_avx2.inc"

#include "plugin/cpu/nn/conv/depthwise_rows_impl.inc"
}  // namespace tenon::cpu::avx2
