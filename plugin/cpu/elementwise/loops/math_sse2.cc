#include "plugin/cpu/elementwise/loops/element_op.h"

#define TENON_MATH_ENTRY FindMath_sse2
#define TENON_VECTOR_BYTES 16
#define TENON_SLEEF_F(f, accuracy) Sleef_##f##f4_##accuracy##sse2
#define TENON_SLEEF_D(f, accuracy) Sleef_##f##d2_##accuracy##sse2
#include "plugin/cpu/elementwise/loops/math.inc"
