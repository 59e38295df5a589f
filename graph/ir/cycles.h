// Finds the cycles of a graph, for error messages.
#pragma once

#include <string>
#include <vector>

#include "graph/ir/graph.h"

namespace tenon {

// Whether the edge closes a legal loop, which is an edge from a NextIteration into a Merge.
bool IsLoopEdge(const Graph& graph, NodeId producer, NodeId consumer);

// Returns each maximal set of two or more nodes that reach one another without loop edges, and each
// node with an edge to itself, as a set of one if it is in no larger set. Ids ascend within a set;
// sets are ordered by their first id. Empty if the graph has no illegal cycle. Takes time
// O((nodes + edges) log nodes).
std::vector<std::vector<NodeId>> FindCycles(const Graph& graph);

// Returns the text of a shortest cycle through the first node of a set from FindCycles: "'a' -> 'b'
// -> 'a'", from producers to consumers. Of a longer cycle names the first 10 nodes and the number
// of all.
std::string DescribeCycle(const Graph& graph, const std::vector<NodeId>& cycle);

}  // namespace tenon
