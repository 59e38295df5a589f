// What changed between two graphs, node by node.
#pragma once

#include <string>
#include <vector>

#include "graph/ir/graph.h"

namespace tenon {

// A node of one name that only one graph has (the other's id is kNoNode), or that differs in op,
// inputs, attributes or device.
struct NodeChange {
  NodeId before = kNoNode;
  NodeId after = kNoNode;
};

// In the order of `after`; those that are gone follow in the order of `before`.
std::vector<NodeChange> ChangesBetween(const Graph& before, const Graph& after);

// "op AddV2 -> Sub, input 1 a -> b, attribute T": how a node of both differs.
std::string ChangeText(const Graph& before, const Graph& after, const NodeChange& change);

}  // namespace tenon
