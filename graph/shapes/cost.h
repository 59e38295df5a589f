// The assumed cost of computing a node, by its op's CostRule: the same on every machine.
// All functions are thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/types/span.h"
#include "graph/ir/graph.h"
#include "graph/shapes/shape_inference.h"
#include "graph/tensor/tensor.h"

namespace tenon {

// Returns the work of computing node n, known op or not, from `inputs`, the values of the data
// inputs in host memory. The unit is one multiplication or addition within a product of matrices of
// floats. Each element that is read or made counts for 16, each byte that an input of strings holds
// (HeldBytes) for 16 more. `elements` is the number of elements of all outputs together, where that
// is known, else 0. At most 10^18.
int64_t EstimateWork(const Graph& graph, NodeId n, absl::Span<const Tensor> inputs,
                     int64_t elements);

// Estimates the arithmetic of one run of node n from the shapes of its data inputs and of output 0,
// by the rules of EstimateFlops; a dimension that is unknown counts as 1. 0 for an op that moves
// data. Nothing where a rank that its rule needs, or an operand, is missing.
std::optional<double> EstimateNodeFlops(const Graph& graph, NodeId n,
                                        const std::vector<PartialShape>& inputs,
                                        const PartialShape& output);

struct FlopEstimate {
  double flops = 0;           // of one run; a multiplication with its addition counts as two
  bool assumed = false;       // some dimension is unknown and was taken as 1
  int64_t unknown_nodes = 0;  // nodes without enough known ranks; not in `flops`
};

// Estimates the arithmetic of one run of all live nodes with outputs, from inferred shapes: the
// products of matrices, einsums and filters; none for ops that move data; one for each element of
// input 0 of reductions and pools; and for the other ops one for each element of output 0. Bodies
// of functions are not counted, and a loop counts as one iteration.
FlopEstimate EstimateFlops(const Graph& graph, const GraphShapes& shapes);

}  // namespace tenon
