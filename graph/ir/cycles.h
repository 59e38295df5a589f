// Which nodes form cycles, for error messages.
#pragma once

#include <string>
#include <vector>

#include "graph/ir/graph.h"

namespace tenon {

// The edge that closes a legal loop: from a NextIteration into a Merge.
bool IsLoopEdge(const Graph& graph, NodeId producer, NodeId consumer);

// Each set of nodes that reach one another (or themselves) without loop edges, ids ascending; sets
// by their first id.
std::vector<std::vector<NodeId>> FindCycles(const Graph& graph);

// A shortest cycle through the first node of such a set: "'a' -> 'b' -> 'a'".
std::string DescribeCycle(const Graph& graph, const std::vector<NodeId>& cycle);

}  // namespace tenon
