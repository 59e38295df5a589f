#include "plugin/cpu/arrays/transpose_tile.h"

#define TENON_TRANSPOSE_ENTRY FindTransposeTile_avx512
#include "plugin/cpu/arrays/transpose_tile.inc"
