// Converts the elements of a tensor to another type, where the user asks for it.
#pragma once

#include "absl/status/statusor.h"
#include "graph/tensor/tensor.h"

namespace tenon::cli {

// Converts as NumPy's astype: real numbers are cut off for integers and rounded once for floats; a
// bool says whether the number is other than 0. A tensor of type `to` is returned as it is, with
// its buffer. A number that is too large for a float type becomes infinite; NaN or the largest
// number where the type has no infinity. NaN becomes 0 where the type has no NaN.
//
// RESOURCE_EXHAUSTED without memory. INVALID_ARGUMENT where NumPy may answer:
// * an element that is NaN or, cut off, outside the range of an integer type: "element [3]: 300 is
//   no u8";
// * complex numbers for any type that is not complex, bool too;
// * strings, resources or variants to or from another type.
absl::StatusOr<Tensor> Cast(const Tensor& tensor, DataType to);

}  // namespace tenon::cli
