// Elements of tensors, for comparisons.
#pragma once

#include <vector>

#include "tenon/tensor.h"

namespace tenon {

inline std::vector<float> Floats(const Tensor& tensor) { return tensor.ToVector<float>(); }

}  // namespace tenon
