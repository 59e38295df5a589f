// Feeds for golden graphs.
#pragma once

#include "graph/tensor.h"

namespace tenon {

// Small numbers of either sign. `shape` has 3 in place of unknown dimensions.
Tensor OrdinaryFeed(DataType dtype, const PartialShape& shape);
// NaN, infinities, zeros of both signs, the largest and the smallest numbers, beginning with the
// one that `first` counts to.
Tensor CornerFeed(DataType dtype, const PartialShape& shape, int first);

}  // namespace tenon
