#include "plugin/cpu/elementwise/loops/element_op.h"

#define TENON_ARITH_ENTRY FindArith_sse2
#define TENON_ROWS_ENTRY FindRows_sse2
#define TENON_REPEAT_ENTRY Repeat_sse2
#include "plugin/cpu/elementwise/loops/arith.inc"
