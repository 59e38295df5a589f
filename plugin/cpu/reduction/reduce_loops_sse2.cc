#include "plugin/cpu/reduction/reduce_loops.h"

#define TENON_REDUCE_ENTRY FindReduceLoops_sse2
#define TENON_VECTOR_BYTES 16
#include "plugin/cpu/reduction/reduce_loops.inc"
