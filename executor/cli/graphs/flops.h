// How much arithmetic a graph is: an estimate from inferred shapes.
#pragma once

#include <cstdint>

#include "graph/ir/graph.h"
#include "graph/shapes/shape_inference.h"

namespace tenon::cli {

struct FlopEstimate {
  double flops = 0;           // of one run; a multiplication with its addition counts as two
  bool assumed = false;       // some dimension is unknown and was taken as 1
  int64_t unknown_nodes = 0;  // whose cost shapes do not tell at all
};

// Matrix products, convolutions and (one per output element) elementwise arithmetic. Functions'
// bodies are not counted.
FlopEstimate EstimateFlops(const Graph& graph, const GraphShapes& shapes);

}  // namespace tenon::cli
