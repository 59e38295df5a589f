// The words of StableHLO's text: element types, tensor types, numbers, lists.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/types/span.h"
#include "graph/tensor/dtype.h"
#include "graph/tensor/shape.h"
#include "graph/tensor/tensor.h"

namespace tenon::stablehlo {

// "f32", "ui8", "i1", "complex<f32>"; empty for a type that no program has. The functions below
// need a type that has a name.
std::string_view ElementName(DataType dtype);

// Appends "tensor<2x3xf32>".
void AppendType(DataType dtype, const Shape& shape, std::string* out);
// "[1, 2]"
std::string List(absl::Span<const int64_t> values);
// "array<i64: 1, 2>"
std::string Array(absl::Span<const int64_t> values);
// "dense<[[0, 1], [2, 0]]> : tensor<2x2xi64>": one pair for each dimension. `low` and `high` have
// the same length.
std::string Pairs(absl::Span<const int64_t> low, absl::Span<const int64_t> high);

// An element as it stands in dense<...>: "1.5", "0x7F800000" for what decimals cannot say, "-3",
// "true", "(1.0, 0.0)". A float type rounds the number. An integer type drops the fraction of a
// double, which must be in the range of int64_t, and keeps the low bits.
std::string Number(DataType dtype, double value);
std::string Number(DataType dtype, int64_t value);

// Whether the tensor has several elements, all with the bits of the first.
bool IsSplat(const Tensor& t);

// "dense<...>" for the elements of a host tensor, at any alignment.
std::string Dense(const Tensor& tensor);

// A text for a comment: each byte that is not printable ASCII becomes '?', and a text of more than
// 100 bytes ends with "..." after them.
std::string CommentText(std::string_view name);

}  // namespace tenon::stablehlo
