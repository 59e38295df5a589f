// Finds the nodes of a graph of version 1 that have to be run besides fetching its outputs.
#pragma once

#include <string>
#include <vector>

#include "graph/ir/graph.h"

namespace tenon::cli {

// Names of the nodes without outputs for which no other node waits. They are run for their effects,
// as "init" and "train".
std::vector<std::string> Targets(const Graph& graph);

// The nodes that make variables, in the order of the graph.
std::vector<NodeId> Variables(const Graph& graph);

// The target that gives each variable its first value, once, and needs neither a feed nor a file;
// the smallest if there are several. Only the first 100 targets are tried. Empty if there is none,
// or no variable.
std::string Initializer(const Graph& graph);

}  // namespace tenon::cli
