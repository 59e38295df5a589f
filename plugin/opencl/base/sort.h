// Sorting, for kernels that need equal indices or large values together.
#pragma once

#include "call.h"

namespace opencl {

// The least power of two that is not below n; 1 for 0.
int64_t PowerOfTwo(int64_t n);

// Sorts each row of `keys`, uint64 [rows, size], in ascending order. `size` is a power of two of
// at most 2^31.
void SortRows(Call& call, const Tensor& keys);

}  // namespace opencl
