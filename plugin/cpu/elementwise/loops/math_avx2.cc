#include "plugin/cpu/elementwise/loops/element_op.h"

#define TENON_MATH_ENTRY FindMath_avx2
#define TENON_VECTOR_BYTES 32
#define TENON_SLEEF_F(f, accuracy) Sleef_##f##f8_##accuracy##avx2
#define TENON_SLEEF_D(f, accuracy) Sleef_##f##d4_##accuracy##avx2
#include "plugin/cpu/elementwise/loops/math.inc"
