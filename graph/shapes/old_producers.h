// What graphs of old versions of TensorFlow could not say.
#pragma once

#include "graph/ir/graph.h"
#include "graph/tensor/shape.h"

namespace tenon {

// Graphs up to this version could not say "unknown shape".
inline constexpr int kLastProducerWithoutUnknownShapes = 21;

// Whether `declared`, which n declares in its attribute `shape`, says nothing: it is the scalar
// that a Placeholder of such a graph declares for any shape.
inline bool StandsForAnyShape(const Graph& graph, NodeId n, const PartialShape& declared) {
  return declared.rank() == 0 && graph.op_name(n) == "Placeholder" &&
         graph.producer() <= kLastProducerWithoutUnknownShapes;
}

}  // namespace tenon
