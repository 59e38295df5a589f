#include <cstring>

#include "plugin/cpu/nn/attention/softmax_rows.h"

namespace tenon::cpu::sse2 {
#include "plugin/cpu/base/vec_sse2.inc"

#include "plugin/cpu/nn/attention/softmax_rows_impl.inc"
}  // namespace tenon::cpu::sse2
