#include "plugin/cpu/elementwise/loops/element_op.h"

#define TENON_CAST_ENTRY FindCast_sse2
#include "plugin/cpu/elementwise/loops/cast.inc"
