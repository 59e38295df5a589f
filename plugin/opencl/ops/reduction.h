// Sums for kernels that leave several summands for each result.
#pragma once

#include "../base/call.h"

namespace opencl {

// out[o, i] = the sum over k of in[o, k, i], for k below `length` and i below `inner`. `in` and
// `out` have numbers; their types may be two float types. `out` is not empty.
void SumMiddle(Call& call, const Tensor& in, int64_t length, int64_t inner, const Tensor& out);

}  // namespace opencl
