// Prints tensors for people: rows and columns as NumPy prints them, long tensors abbreviated.
#pragma once

#include <string>

#include "graph/tensor/tensor.h"

namespace tenon::cli {

// "f32[4,10]"; a scalar is "f32", an unknown rank "f32[...]".
std::string TypeText(DataType dtype, const PartialShape& shape);

// The indices of element i of a shape in row-major order: "[1,0,2]"; of a scalar "[]".
std::string IndexText(const Shape& shape, int64_t i);

// The elements, each line after `indent` and with a line feed at its end; an empty line between
// matrices has no `indent`. A tensor of no elements has the line "(empty)". A tensor that has no
// value, or that holds resources or variants, has the line "(no printable elements)". Of a tensor
// of more than 100 elements, dimensions of more than 7 show their first and last three. A tensor of
// more than 12 dimensions is shown as one row. A host tensor of any dtype.
std::string TensorText(const Tensor& tensor, std::string_view indent = "");

}  // namespace tenon::cli
