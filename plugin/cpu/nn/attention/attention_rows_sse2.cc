#include <cstring>

#include "plugin/cpu/nn/attention/attention_rows.h"

namespace tenon::cpu::sse2 {
#include "plugin/cpu/base/vec_sse2.inc"

#include "plugin/cpu/nn/attention/attention_rows_impl.inc"
}  // namespace tenon::cpu::sse2
