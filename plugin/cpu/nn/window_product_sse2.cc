#include <cstring>

#include "plugin/cpu/nn/window_product.h"

namespace tenon::cpu::sse2 {
#include "plugin/cpu/vec_sse2.inc"

#include "plugin/cpu/nn/window_product_impl.inc"
}  // namespace tenon::cpu::sse2
