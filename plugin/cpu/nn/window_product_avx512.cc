#include <immintrin.h>

#include "plugin/cpu/nn/window_product.h"

namespace tenon::cpu::avx512 {
#include "plugin/cpu/vec_avx512.inc"

#include "plugin/cpu/nn/window_product_impl.inc"
}  // namespace tenon::cpu::avx512
