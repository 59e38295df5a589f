// Integers of 32 bits that are shapes and indices: as in TensorFlow's kernels for GPUs they stay in
// the host's memory, and the ops that make them of shapes run there.
#pragma once

#include "../base/call.h"
#include "../base/registry.h"

namespace opencl {

// CopyStrided; between tensors of int32 in host memory, at once, if `on_host`.
void CopyAnywhere(Call& call, bool on_host, const Tensor& from, int64_t from_at, const Tensor& to,
                  int64_t to_at, const Loop& loop);

void RegisterHostIntegers();
void RegisterStridedSlice();

}  // namespace opencl
