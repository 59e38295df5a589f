// Elements of one type as those of another, where somebody asks for it.
#pragma once

#include "absl/status/statusor.h"
#include "graph/tensor/tensor.h"

namespace tenon::cli {

// As NumPy's astype: integers of real numbers are cut off, floats rounded. INVALID_ARGUMENT where
// NumPy gives some number instead: an element that the type has no place for ("element [3]: 300 is
// no u8"), complex numbers as real ones, strings.
absl::StatusOr<Tensor> Cast(const Tensor& tensor, DataType to);

}  // namespace tenon::cli
