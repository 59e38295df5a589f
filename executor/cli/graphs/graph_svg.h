// Draws graphs as SVG.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "graph/ir/graph.h"
#include "graph/shapes/shape_inference.h"

namespace tenon::cli {

// A box for each node but those of ConstantsInside (graph_dot.h), with its op, its name, the device
// that it asks for, and the first four nodes of ConstantsInside that it reads as lines. An arrow
// for a tensor has its type, such as "f32[?,16]"; one for a control input is dashed. Long names are
// cut. Boxes of one kind of op have one colour, and there are colours for light and for dark.
// Bodies of functions are not drawn. `shapes` are those of `graph`. OUT_OF_RANGE for more than
// kMostDrawn nodes: no one could look at the drawing.
inline constexpr int32_t kMostDrawn = 20'000;
absl::StatusOr<std::string> GraphSvg(const Graph& graph, const GraphShapes& shapes);

}  // namespace tenon::cli
