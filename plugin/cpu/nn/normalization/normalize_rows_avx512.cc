#include <immintrin.h>

#include "plugin/cpu/nn/normalization/normalize_rows.h"

namespace tenon::cpu::avx512 {
#include "plugin/cpu/base/vec_avx512.inc"

#include "plugin/cpu/nn/normalization/normalize_rows_impl.inc"
}  // namespace tenon::cpu::avx512
