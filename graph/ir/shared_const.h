// Constants whose bytes several graphs, and tensors beside them, have.
#pragma once

#include "absl/status/status.h"
#include "graph/ir/graph.h"

namespace tenon {

// n, which has no inputs, becomes a constant of this value. Its elements lie where kernels can read
// them, so that plans take them as they are, unless they are few or no plain bytes.
absl::Status MakeAlignedConst(Graph& graph, NodeId n, const Tensor& value);

// n, which has no inputs, becomes the constant that node `constant` of `holder` is. Both graphs are
// copies of one graph, so that they share its storage.
void BecomeSharedConst(Graph& graph, NodeId n, const Graph& holder, NodeId constant);

// Whether kernels can read this value of a constant of the graph where it lies.
bool IsAligned(const Graph& graph, const Tensor& value);

}  // namespace tenon
