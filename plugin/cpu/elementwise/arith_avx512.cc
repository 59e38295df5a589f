#include "plugin/cpu/elementwise/element_op.h"

#define TENON_ARITH_ENTRY FindArith_avx512
#include "plugin/cpu/elementwise/arith.inc"
