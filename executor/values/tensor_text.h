// Tensors for people: rows and columns as NumPy prints them, long ones abbreviated.
#pragma once

#include <string>

#include "graph/tensor/tensor.h"

namespace tenon::cli {

// "f32[4,10]"
std::string TypeText(DataType dtype, const PartialShape& shape);

// Where element i of a shape stands: "[1,0,2]".
std::string IndexText(const Shape& shape, int64_t i);

// The elements, each line after `indent`. Of a tensor of more than 100 elements, long dimensions
// show their first and last three. A host tensor of any dtype.
std::string TensorText(const Tensor& tensor, std::string_view indent = "");

}  // namespace tenon::cli
