// Finds the cycles of a graph, for error messages.
#pragma once

#include <string>
#include <vector>

#include "graph/ir/graph.h"

namespace tenon {

// Whether the edge closes a legal loop: from a NextIteration into a Merge.
bool IsLoopEdge(const Graph& graph, NodeId producer, NodeId consumer);

// Returns each set of nodes that reach one another without loop edges; a node with an edge to
// itself is such a set. Ids ascend within a set; sets are ordered by their first id.
std::vector<std::vector<NodeId>> FindCycles(const Graph& graph);

// Returns the text of a shortest cycle through the first node of such a set: "'a' -> 'b' -> 'a'".
std::string DescribeCycle(const Graph& graph, const std::vector<NodeId>& cycle);

}  // namespace tenon
