#include "plugin/cpu/elementwise/loops/element_op.h"

// These loops are as fast as memory lets them be, with 32 bytes at a time as with 64. Zen 4 is two
// to four times slower with 64 where a result lies one or two lines above an operand, modulo 4 KB.
#pragma GCC target("prefer-vector-width=256")

#define TENON_ARITH_ENTRY FindArith_avx512
#define TENON_ROWS_ENTRY FindRows_avx512
#define TENON_REPEAT_ENTRY Repeat_avx512
#include "plugin/cpu/elementwise/loops/arith.inc"
