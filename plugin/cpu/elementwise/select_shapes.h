// The shapes of Select, whose condition does not broadcast as SelectV2's does.
#pragma once

#include <array>

#include "absl/status/statusor.h"
#include "graph/tensor/shape.h"

namespace tenon {
class Prepare;  // plugin/kernels/kernel.h
}

namespace tenon::cpu {

// Returns the shapes of a Select node's condition, `then` and `else` for a BroadcastPlan. A vector
// of conditions for whole rows becomes a column. INVALID_ARGUMENT unless `then` and `else` have
// equal shapes, and the condition is a scalar, a vector as long as `then`'s first dimension, or a
// tensor of `then`'s shape.
absl::StatusOr<std::array<Shape, 3>> SelectShapes(const Prepare& p);

}  // namespace tenon::cpu
