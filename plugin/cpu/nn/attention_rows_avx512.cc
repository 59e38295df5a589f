#include <immintrin.h>

#include "plugin/cpu/nn/attention_rows.h"

namespace tenon::cpu::avx512 {
#include "plugin/cpu/vec_avx512.inc"

#include "plugin/cpu/nn/attention_rows_impl.inc"
}  // namespace tenon::cpu::avx512
