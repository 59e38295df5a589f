// The tables of rules, one for each family of ops or theme of a family, each in the file of its
// name; families are those of graph/ops. Tables are constants and live as long as the process.
// Private to graph/gradients/.
#pragma once

#include "absl/types/span.h"
#include "graph/gradients/gradient_row.h"

namespace tenon::gradients {

// All of these tables. No two rows have one op.
absl::Span<const absl::Span<const GradientRow>> AllGradients();

absl::Span<const GradientRow> Arrays();
absl::Span<const GradientRow> ArraysDiagonals();
absl::Span<const GradientRow> ArraysSlices();
absl::Span<const GradientRow> Basic();
absl::Span<const GradientRow> Containers();
absl::Span<const GradientRow> ControlFlow();
absl::Span<const GradientRow> Elementwise();
absl::Span<const GradientRow> ElementwiseSpecial();
absl::Span<const GradientRow> Functions();
absl::Span<const GradientRow> Image();
absl::Span<const GradientRow> Linalg();
absl::Span<const GradientRow> LinalgEinsum();
absl::Span<const GradientRow> LinalgFactorizations();
absl::Span<const GradientRow> LinalgFft();
absl::Span<const GradientRow> LinalgSolves();
absl::Span<const GradientRow> Nn();
absl::Span<const GradientRow> NnBatchNorm();
absl::Span<const GradientRow> NnSequences();
absl::Span<const GradientRow> NnWindows();
absl::Span<const GradientRow> Nothing();
absl::Span<const GradientRow> Quantize();
absl::Span<const GradientRow> Ragged();
absl::Span<const GradientRow> Random();
absl::Span<const GradientRow> Reduction();
absl::Span<const GradientRow> Selection();
absl::Span<const GradientRow> Sparse();
absl::Span<const GradientRow> SparseCsr();
absl::Span<const GradientRow> TensorArrays();
absl::Span<const GradientRow> Variables();

}  // namespace tenon::gradients
