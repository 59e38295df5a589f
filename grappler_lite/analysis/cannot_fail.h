// Which nodes cannot fail: the types, shapes and constant values of their operands prove that no
// run finds an error in them. A pass may drop an op, or run it where it might not have run, only if
// this holds, since errors are results too. All functions are pure and thread-safe. False always
// means "not proven".
#pragma once

#include "absl/functional/function_ref.h"
#include "absl/types/span.h"
#include "graph/ir/graph.h"
#include "graph/shapes/shape_inference.h"

namespace tenon {

// What is known of an output. The functions below ask about the operands of n and about n's
// outputs.
using InfoOf = absl::FunctionRef<const TensorInfo&(Output)>;
// Whether dimension i of tensor a equals dimension j of tensor b in every run. Is asked only where
// neither size is known.
using SameDim = absl::FunctionRef<bool(Output a, int i, Output b, int j)>;

// Whether node n computes its outputs in every run in which its operands have the shapes and values
// that `info` states. The answer is about n alone: the producers of the operands may fail. n must
// have as many inputs as its OpDef says. Without `same_dim` no two unknown dimensions count as
// equal.
bool CannotFail(const Graph& g, NodeId n, InfoOf info);
bool CannotFail(const Graph& g, NodeId n, InfoOf info, SameDim same_dim);

// The part of CannotFail for convolutions and pools over two dimensions and for their gradients.
// False for other ops.
bool WindowsFit(const Graph& g, NodeId n, InfoOf info, SameDim same_dim);

// Whether a Reshape from shape `from` to the sizes `to` succeeds in every run: the number of
// elements is the same, with at most one size of -1.
bool ReshapeFits(const PartialShape& from, absl::Span<const int64_t> to);

// The product of the known dimensions, and the number of unknown ones (negative sizes). nullopt if
// the product overflows int64_t.
struct ElementCount {
  int64_t known = 1;
  int unknown = 0;
};
std::optional<ElementCount> CountElements(absl::Span<const int64_t> dims);

}  // namespace tenon
