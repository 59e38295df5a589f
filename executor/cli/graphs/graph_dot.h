// Writes graphs in the language of Graphviz.
#pragma once

#include <string>

#include "graph/ir/graph.h"

namespace tenon::cli {

// A box for each node with its name and op, an arrow for each input. Arrows of control inputs are
// dashed. Bodies of functions are not drawn.
std::string GraphDot(const Graph& graph);

}  // namespace tenon::cli
