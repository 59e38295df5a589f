// Alignment of host tensors. TensorFlow promises kernels that a tensor's data in host memory start
// at a multiple of 64 bytes (kTensorAlignment).
#pragma once

#include "absl/status/statusor.h"
#include "graph/tensor/tensor.h"

namespace tenon {

// Whether kernels of plug-ins may read the tensor where it lies: its data are aligned, or it holds
// strings or objects, which plug-ins read through other functions.
inline bool IsAligned(const Tensor& t) {
  return reinterpret_cast<uintptr_t>(t.data()) % kTensorAlignment == 0 || !IsMemcpyable(t.dtype());
}

// The tensor itself if it is aligned, else a copy. A constant in a file, a part of another tensor
// and a feed may be unaligned. RESOURCE_EXHAUSTED without memory for the copy.
inline absl::StatusOr<Tensor> Aligned(const Tensor& t) {
  if (IsAligned(t)) return t;
  return t.Copy();
}

}  // namespace tenon
