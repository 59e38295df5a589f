// Converts shapes to and from TensorShapeProto bytes.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "graph/tensor/shape.h"

namespace tenon {

// ShapeFromWire returns INVALID_ARGUMENT for shapes that PartialShape::Make refuses, and DATA_LOSS
// for malformed bytes.
absl::StatusOr<PartialShape> ShapeFromWire(std::string_view wire);
std::string ShapeToWire(const PartialShape& shape);

}  // namespace tenon
