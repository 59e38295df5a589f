// Constants whose bytes are shared by several graphs and by tensors beside the graphs.
#pragma once

#include "absl/status/status.h"
#include "graph/ir/graph.h"

namespace tenon {

// Makes n, which has no inputs, a constant of this value. Plain elements, bools aside, of 1 KiB and
// more are put at an address from which kernels can read them, so that plans take them without a
// copy; n then has the attributes `dtype` and `value` alone. Other values become constants by
// Graph::MakeConst, with its errors; n then also keeps what BecomeOp keeps.
absl::Status MakeAlignedConst(Graph& graph, NodeId n, const Tensor& value);

// Gives n, which has no inputs, op and attributes of node `constant` of `holder`, without a copy.
// Both graphs must be copies of one graph, so that they share its storage.
void BecomeSharedConst(Graph& graph, NodeId n, const Graph& holder, NodeId constant);

// Whether MakeAlignedConst has put the elements that `value` views into the storage of `graph`, so
// that kernels can read them without a copy. False for all other constants, aligned or not.
bool IsAligned(const Graph& graph, const Tensor& value);

}  // namespace tenon
