// The windows of convolutions and pools, along spatial dimensions. Private to executor/stablehlo/.
#pragma once

#include "absl/status/statusor.h"
#include "executor/stablehlo/op.h"
#include "graph/shapes/window_shapes.h"

namespace tenon::stablehlo {

// One window per spatial dimension.
struct SpatialWindows {
  ops::WindowFormat format;
  Ints stride, dilation, low, high;  // by spatial dimension; low and high may be negative
};

// Reads strides, dilations, padding and format of a node with `spatial` spatial dimensions, for an
// input of this shape. `sizes`: of the windows, by spatial dimension. Without an attribute
// `dilations`, and of gradients of depthwise convolutions, dilations are 1. UNIMPLEMENTED for an
// input, strides or dilations of another rank. INVALID_ARGUMENT for a stride or dilation that is
// not positive or is above 2^30, for one over batch or channels that is not 1, and for a size that
// is negative or above 2^30.
absl::StatusOr<SpatialWindows> ReadWindows(Op& op, int spatial, const Shape& input, IntSpan sizes);
// The same, for strides that are known otherwise: one for each dimension of the input.
absl::StatusOr<SpatialWindows> ReadWindows(Op& op, int spatial, const Shape& input, IntSpan sizes,
                                           IntSpan strides);

}  // namespace tenon::stablehlo
