#include "plugin/cpu/elementwise/loops/element_op.h"

#define TENON_MATH_ENTRY FindMath_avx512
#define TENON_VECTOR_BYTES 64
#define TENON_SLEEF_F(f, accuracy) Sleef_##f##f16_##accuracy##avx512f
#define TENON_SLEEF_D(f, accuracy) Sleef_##f##d8_##accuracy##avx512f
#include "plugin/cpu/elementwise/loops/math.inc"
