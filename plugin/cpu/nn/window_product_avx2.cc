#include <immintrin.h>

#include "plugin/cpu/nn/window_product.h"

namespace tenon::cpu::avx2 {
#include "plugin/cpu/vec_avx2.inc"

#include "plugin/cpu/nn/window_product_impl.inc"
}  // namespace tenon::cpu::avx2
