// What computing a node is taken to cost, by its op's CostRule: the same on every machine, and
// right within an order of magnitude.
#pragma once

#include <cstdint>

#include "absl/types/span.h"
#include "graph/ir/graph.h"
#include "graph/shapes/shape_inference.h"
#include "graph/tensor/tensor.h"

namespace tenon {

// Before a node is computed from these values. The unit is one multiplication or addition within a
// product of matrices; an element that is read or made counts for several, as kernels that are no
// products take time. `elements`: of what comes out, where that is known, else 0.
int64_t EstimateWork(const Graph& graph, NodeId n, absl::Span<const Tensor> inputs,
                     int64_t elements);

struct FlopEstimate {
  double flops = 0;           // of one run; a multiplication with its addition counts as two
  bool assumed = false;       // some dimension is unknown and was taken as 1
  int64_t unknown_nodes = 0;  // nodes of which shapes do not tell the cost at all
};

// The arithmetic of a graph, from inferred shapes: products, filters and (one per element) the
// rest. Functions' bodies are not counted.
FlopEstimate EstimateFlops(const Graph& graph, const GraphShapes& shapes);

}  // namespace tenon
