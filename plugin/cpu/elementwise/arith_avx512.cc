#include "plugin/cpu/elementwise/element_op.h"

#define TENON_ARITH_ENTRY FindArith_avx512
#define TENON_REPEAT_ENTRY Repeat_avx512
#include "plugin/cpu/elementwise/arith.inc"
