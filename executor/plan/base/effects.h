// Which nodes must keep their order among themselves, whatever edges say.
#pragma once

#include "graph/ir/graph.h"

namespace tenon {

// Whether the node changes something that other nodes may see, or sees what other nodes change: a
// stateful node, a node of an unknown op, a node that takes a resource, or a node whose input
// "handle" is a string.
bool HasEffects(const Graph& graph, NodeId n);
// Whether an output is a reference. A reader of it sees the value at the reader's own place in the
// order.
bool GivesReference(const Graph& graph, NodeId n);
// Whether no node may be sorted to another place in a graph that has this one: the nodes of a loop
// or a branch must stand together, and a reference is read in order.
bool KeepsOrder(const Graph& graph, NodeId n);

}  // namespace tenon
