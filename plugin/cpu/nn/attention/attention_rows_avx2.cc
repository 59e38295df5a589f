#include <immintrin.h>

#include "plugin/cpu/nn/attention/attention_rows.h"

namespace tenon::cpu::avx2 {
#include "plugin/cpu/base/vec_avx2.inc"

#include "plugin/cpu/nn/attention/attention_rows_impl.inc"
}  // namespace tenon::cpu::avx2
