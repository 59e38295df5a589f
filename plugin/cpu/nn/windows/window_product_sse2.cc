#include <cstring>

#include "plugin/cpu/nn/windows/window_product.h"

namespace tenon::cpu::sse2 {
#include "plugin/cpu/base/vec_sse2.inc"

#include "plugin/cpu/nn/windows/window_product_impl.inc"
}  // namespace tenon::cpu::sse2
