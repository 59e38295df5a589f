// Writes graphs in the language of Graphviz.
#pragma once

#include <string>
#include <vector>

#include "graph/ir/graph.h"
#include "graph/shapes/shape_inference.h"

namespace tenon::cli {

// By node id: whether a drawing shows the node as a line in the boxes of the nodes that read it.
// True for a constant that some node reads and that only data edges touch. True also for an
// Identity of such a node, if some node reads it and only data edges touch it: frozen models read
// their variables so. Of an Identity of an Identity only if the inner one has the lower id.
std::vector<bool> ConstantsInside(const Graph& graph);

// A box for each node with its name and op, and as tooltip the device that it asks for; an arrow
// for each input. Arrows of control inputs are dashed. Bodies of functions are not drawn.
// With `shapes`, those of `graph`, the drawing is for people who look at a model: each arrow has
// the type of its tensor, such as "f32[?,16]", and each box its device. A node of ConstantsInside
// has no box then, but is a line in the boxes of the nodes that read it and that have a box.
std::string GraphDot(const Graph& graph, const GraphShapes* shapes = nullptr);

}  // namespace tenon::cli
