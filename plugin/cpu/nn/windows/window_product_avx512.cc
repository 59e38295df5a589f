#include <immintrin.h>

#include "plugin/cpu/nn/windows/window_product.h"

namespace tenon::cpu::avx512 {
#include "plugin/cpu/base/vec_avx512.inc"

#include "plugin/cpu/nn/windows/window_product_impl.inc"
}  // namespace tenon::cpu::avx512
