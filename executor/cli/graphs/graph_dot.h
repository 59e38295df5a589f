// Graphs in Graphviz's language.
#pragma once

#include <string>

#include "graph/ir/graph.h"

namespace tenon::cli {

// A box per node with name and op, an arrow per input, control inputs dashed.
std::string GraphDot(const Graph& graph);

}  // namespace tenon::cli
