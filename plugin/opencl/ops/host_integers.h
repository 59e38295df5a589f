// Integers of 32 bits that are shapes and indices: as in TensorFlow's kernels for GPUs they stay in
// the host's memory, and the ops that make them of shapes run there.
#pragma once

#include "../base/call.h"
#include "../base/registry.h"

namespace opencl {

struct HostRow {
  OpRow row;
  bool on_host;
};

// As CopyStrided, at once and between tensors of int32 in host memory.
void CopyOnHost(const Tensor& from, int64_t from_at, const Tensor& to, const Loop& loop,
                int64_t to_at = 0);

void RegisterHostIntegers();
void RegisterStridedSlice();

}  // namespace opencl
