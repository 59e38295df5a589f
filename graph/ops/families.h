// The families of built-in ops. Each function returns a table of rows, in the file of its name;
// tables are constants and live as long as the process. all_ops.cc gathers them.
#pragma once

#include "absl/types/span.h"
#include "graph/op_defs/op_row.h"

namespace tenon::ops {

absl::Span<const OpSpec> Basic();
absl::Span<const OpSpec> Elementwise();
absl::Span<const OpSpec> Reduction();
absl::Span<const OpSpec> Arrays();
absl::Span<const OpSpec> Selection();
absl::Span<const OpSpec> Linalg();
absl::Span<const OpSpec> Nn();
absl::Span<const OpSpec> Image();
absl::Span<const OpSpec> Quantize();
absl::Span<const OpSpec> Strings();
absl::Span<const OpSpec> Random();
absl::Span<const OpSpec> Variables();
absl::Span<const OpSpec> Training();
absl::Span<const OpSpec> Containers();
absl::Span<const OpSpec> Preprocess();
absl::Span<const OpSpec> ControlFlow();
absl::Span<const OpSpec> Functions();
absl::Span<const OpSpec> Files();
absl::Span<const OpSpec> QuantizedNn();
absl::Span<const OpSpec> Sparse();
absl::Span<const OpSpec> Summary();
absl::Span<const OpSpec> Data();
absl::Span<const OpSpec> Distribution();

}  // namespace tenon::ops
