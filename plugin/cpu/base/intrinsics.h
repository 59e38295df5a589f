// The intrinsics of the instruction set that a source is compiled for. Those beyond SSE2 take g++
// half a second or more in each source that includes them.
#pragma once

#ifdef __AVX__
#include <immintrin.h>
#else
#include <emmintrin.h>
#endif
