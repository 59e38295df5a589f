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

// "f32", "ui8", "i1", "complex<f32>"; empty for a type that no program has.
std::string_view ElementName(DataType dtype);

// Appends "tensor<2x3xf32>".
void AppendType(DataType dtype, const Shape& shape, std::string* out);
// "[1, 2]"
std::string List(absl::Span<const int64_t> values);
// "array<i64: 1, 2>"
std::string Array(absl::Span<const int64_t> values);
// "dense<[[0, 1], [2, 0]]> : tensor<2x2xi64>": one pair for each dimension.
std::string Pairs(absl::Span<const int64_t> low, absl::Span<const int64_t> high);

// An element as it stands in dense<...>: "1.5", "0x7F800000" for what decimals cannot say, "-3",
// "true", "(1.0, 0.0)". A number that the type does not have is rounded; integers are cut to the
// type's bits.
std::string Number(DataType dtype, double value);
std::string Number(DataType dtype, int64_t value);

// Whether the tensor has several elements, all with the bits of the first.
bool IsSplat(const Tensor& t);

// "dense<...>" for the elements of a host tensor, at any alignment.
std::string Dense(const Tensor& tensor);

// A text without line ends and control characters, cut to 100 bytes, for a comment.
std::string CommentText(std::string_view name);

}  // namespace tenon::stablehlo
