// Ops of which the shapes of their operands tell that no run finds an error in them.
#pragma once

#include "absl/functional/function_ref.h"
#include "absl/types/span.h"
#include "graph/ir/graph.h"
#include "graph/shapes/shape_inference.h"

namespace tenon {

using InfoOf = absl::FunctionRef<const TensorInfo&(Output)>;
// Whether dimension i of a is dimension j of b in every run, though nobody knows them.
using SameDim = absl::FunctionRef<bool(Output a, int i, Output b, int j)>;

// Whether n computes an answer in every run in which its operands are what `info` says of them.
// Of its own op and operands alone: what they are made of may fail.
bool CannotFail(const Graph& g, NodeId n, InfoOf info);
bool CannotFail(const Graph& g, NodeId n, InfoOf info, SameDim same_dim);

// The same of convolutions and pools over two dimensions, and of their gradients.
bool WindowsFit(const Graph& g, NodeId n, InfoOf info, SameDim same_dim);

// Whether the elements of a tensor of shape `from` fit the sizes `to` of a Reshape in every run.
bool ReshapeFits(const PartialShape& from, absl::Span<const int64_t> to);

// The elements of the known dimensions, and how many are unknown; nullopt if the product overflows.
struct ElementCount {
  int64_t known = 1;
  int unknown = 0;
};
std::optional<ElementCount> CountElements(absl::Span<const int64_t> dims);

}  // namespace tenon
