// Draws graphs as SVG.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "graph/ir/graph.h"
#include "graph/shapes/shape_inference.h"

namespace tenon::cli {

// A box for each node with its op, its name, the device that it asks for, and the first four
// constants that it reads as lines; on each arrow the type of its tensor, such as "f32[?,16]". Long
// names are cut. Arrows of control inputs are dashed. Boxes of one kind of op have one colour, and
// there are colours for light and for dark. Bodies of functions are not drawn. `shapes` are those
// of `graph`. OUT_OF_RANGE for more than kMostDrawn nodes: no one could look at the drawing.
inline constexpr int32_t kMostDrawn = 20'000;
absl::StatusOr<std::string> GraphSvg(const Graph& graph, const GraphShapes& shapes);

}  // namespace tenon::cli
