#include <immintrin.h>

#include "plugin/cpu/normalize_rows.h"

namespace tenon::cpu::avx512 {
#include "plugin/cpu/vec_avx512.inc"

#include "plugin/cpu/normalize_rows_impl.inc"
}  // namespace tenon::cpu::avx512
