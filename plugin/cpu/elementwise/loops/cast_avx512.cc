#include "plugin/cpu/elementwise/loops/element_op.h"

// See arith_avx512.cc.
#pragma GCC target("prefer-vector-width=256")

#define TENON_CAST_ENTRY FindCast_avx512
#include "plugin/cpu/elementwise/loops/cast.inc"
