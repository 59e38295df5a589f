// Converts shapes to and from TensorShapeProto bytes.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "graph/tensor/shape.h"

namespace tenon {

// Names of dimensions are dropped. Empty bytes are the shape of a scalar. Equal shapes give equal
// bytes.
// INVALID_ARGUMENT: dimensions that PartialShape::Make refuses, or dimensions beside unknown_rank.
// DATA_LOSS: malformed bytes.
absl::StatusOr<PartialShape> ShapeFromWire(std::string_view wire);
std::string ShapeToWire(const PartialShape& shape);

}  // namespace tenon
