// Moving elements between tensors, whatever their type: the door for all ops that only rearrange.
// Each function queues its work on the stream of the call and returns before the work is done.
#pragma once

#include "call.h"

namespace opencl {

// The loop over `dims` between a tensor of shape `from` and one of shape `to`, both in row-major
// order.
Loop BoxLoop(const Dims& dims, const Dims& from, const Dims& to);

// Copies element by element over a loop with two operands, source and target, whose first elements
// lie `from_at` and `to_at` elements into their tensors. Both tensors are in device memory and have
// elements of one size; the elements that are read and written must not overlap.
void CopyStrided(Call& call, const Tensor& from, int64_t from_at, const Tensor& to, int64_t to_at,
                 Loop loop);

// Dimension d of the result is dimension order[d] of `from`. `to` is in memory of its own.
void Permute(Call& call, const Tensor& from, const std::vector<int>& order, const Tensor& to);

// Sets each byte of the tensor to 0.
void Clear(Call& call, const Tensor& tensor);

// Copies all bytes of `from`, of which `to` has as many. Does nothing if both have one
// address; else they must not overlap.
void CopyAll(Call& call, const Tensor& from, const Tensor& to);

}  // namespace opencl
