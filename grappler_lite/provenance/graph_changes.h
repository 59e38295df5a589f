// Compares two graphs node by node. Nodes are the same if they have the same name. Both functions
// are thread-safe; time is linear in the graphs.
#pragma once

#include <string>
#include <vector>

#include "graph/ir/graph.h"

namespace tenon {

// A node that differs in op, inputs, attributes or device, or that one graph lacks: the id for that
// graph is kNoNode. Inputs are compared by name and port, attributes by their bytes: an attribute
// that only one node states counts, even if it is the default.
struct NodeChange {
  NodeId before = kNoNode;
  NodeId after = kNoNode;
};

// Returns all changes: first the nodes of `after` by id, then the nodes that only `before` has, by
// id.
std::vector<NodeChange> ChangesBetween(const Graph& before, const Graph& after);

// Describes the change of a node that both graphs have: "op AddV2 -> Sub, input 1 a -> b, attribute
// T". If the numbers of data inputs or of all inputs differ, "inputs 2 -> 3", with the numbers of
// all, stands for all inputs.
std::string ChangeText(const Graph& before, const Graph& after, const NodeChange& change);

}  // namespace tenon
