// TensorFlow's promise to kernels: the data of a tensor in host memory lie at a multiple of 64.
#pragma once

#include "absl/status/statusor.h"
#include "graph/tensor/tensor.h"

namespace tenon {

inline bool IsAligned(const Tensor& t) {
  return reinterpret_cast<uintptr_t>(t.data()) % kTensorAlignment == 0 || !IsMemcpyable(t.dtype());
}

// The tensor itself, or a copy where its data lie elsewhere (constants of a file, parts of another
// tensor, what a caller feeds).
inline absl::StatusOr<Tensor> Aligned(const Tensor& t) {
  if (IsAligned(t)) return t;
  return t.Copy();
}

}  // namespace tenon
