// Writes graphs in the language of Graphviz.
#pragma once

#include <string>

#include "graph/ir/graph.h"
#include "graph/shapes/shape_inference.h"

namespace tenon::cli {

// A box for each node with its name and op, an arrow for each input. Arrows of control inputs are
// dashed. Bodies of functions are not drawn.
std::string GraphDot(const Graph& graph);

// The same for people who look at a model: each arrow has the type of its tensor, such as
// "f32[?,16]", each box the device that the node asks for, and a constant stands as a line in the
// boxes of the nodes that read it. `shapes` are those of `graph`.
std::string GraphDot(const Graph& graph, const GraphShapes& shapes);

}  // namespace tenon::cli
