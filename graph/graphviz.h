// A graph as a drawing for `dot`.
#pragma once

#include <string>

#include "graph/graph.h"

namespace tenon {

// DOT text: one box per node with name, op and device (one colour per device), dashed lines for
// control edges, ports and element types on data edges. Linear in the graph.
std::string WriteGraphviz(const Graph& graph);

}  // namespace tenon
