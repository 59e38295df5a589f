// Sums of gradients that meet at one tensor. Private to graph/gradients/.
#pragma once

#include "absl/types/span.h"
#include "graph/gradients/gradient_scope.h"
#include "graph/gradients/gradients.h"

namespace tenon::gradients {

// The sum of one or more gradients of one tensor, none of which is none. If all are slices, slices
// again: values and indices are joined, and indices become int64 if they differ in type; the dense
// shape is that of the first part, even if the first part has none. Else dense, by AddN: fails if
// slices among them have no dense shape.
Gradient SumOf(GraphBuilder& builder, absl::Span<const Gradient> parts);

// The gradient, which is not none, as a dense tensor.
Value DenseOf(GraphBuilder& builder, const Gradient& gradient);
// The gradient, which is in slices, as values of the builder.
Slices SlicesOf(GraphBuilder& builder, const Gradient& gradient);

}  // namespace tenon::gradients
