#include "plugin/cpu/reduction/reduce_loops.h"

#define TENON_REDUCE_ENTRY FindReduceLoops_avx512
#define TENON_VECTOR_BYTES 64
#include "plugin/cpu/reduction/reduce_loops.inc"
