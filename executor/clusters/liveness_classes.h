// Which nodes of a graph with control flow of version 1 are alive together.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "graph/ir/graph.h"

namespace tenon {

// By node id: a number that two nodes share only if they always run together, in the same frame of
// the same loop. 0: they run once in every run. `order` has all nodes that are asked for, producers
// first but for the edges that close loops; the number of any other node means nothing, and an
// input from such a node, unless it is a Switch, counts as one that is always alive. Errs on the
// side of telling nodes apart: of nodes that join values of several branches, only those that join
// the same ones are equal. Linear.
std::vector<int32_t> LivenessClasses(const Graph& graph, absl::Span<const NodeId> order);

}  // namespace tenon
