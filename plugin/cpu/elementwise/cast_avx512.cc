#include "plugin/cpu/elementwise/element_op.h"

#define TENON_CAST_ENTRY FindCast_avx512
#include "plugin/cpu/elementwise/cast.inc"
