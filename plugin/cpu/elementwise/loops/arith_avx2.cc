#include "plugin/cpu/elementwise/loops/element_op.h"

#define TENON_ARITH_ENTRY FindArith_avx2
#define TENON_ROWS_ENTRY FindRows_avx2
#define TENON_REPEAT_ENTRY Repeat_avx2
#include "plugin/cpu/elementwise/loops/arith.inc"
