#include "plugin/cpu/reduction/reduce_loops.h"

#define TENON_REDUCE_ENTRY FindReduceLoops_avx2
#define TENON_VECTOR_BYTES 32
#include "plugin/cpu/reduction/reduce_loops.inc"
