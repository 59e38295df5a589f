// What a graph of version 1 has to be asked for besides its outputs.
#pragma once

#include <string>
#include <vector>

#include "graph/ir/graph.h"

namespace tenon::cli {

// Nodes without outputs that no other node waits for: what one runs for what it does, such as
// "init" and "train".
std::vector<std::string> Targets(const Graph& graph);

// The nodes that hold variables.
std::vector<NodeId> Variables(const Graph& graph);

// Of the targets the one that gives every variable its first value, from neither a feed nor a
// file: the smallest one. Empty if there is none, or no variable.
std::string Initializer(const Graph& graph);

}  // namespace tenon::cli
