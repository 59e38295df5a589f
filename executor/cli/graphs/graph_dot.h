// Writes graphs in the language of Graphviz.
#pragma once

#include <string>

#include "graph/ir/graph.h"
#include "graph/shapes/shape_inference.h"

namespace tenon::cli {

// A box for each node with its name and op, and as tooltip the device that it asks for; an arrow
// for each input. Arrows of control inputs are dashed. Bodies of functions are not drawn.
// With `shapes`, those of `graph`, the drawing is for people who look at a model: each arrow has
// the type of its tensor, such as "f32[?,16]", each box its device, and a constant stands as a line
// in the boxes of the nodes that read it.
std::string GraphDot(const Graph& graph, const GraphShapes* shapes = nullptr);

}  // namespace tenon::cli
