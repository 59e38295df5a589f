// Shapes of a graph that follow from what it is fed with.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "graph/ir/graph.h"
#include "graph/shapes/shape_inference.h"

namespace tenon::cli {

// Tensors that are fed ("x", "x:0"), with their shapes.
using FedShapes = std::vector<std::pair<std::string, PartialShape>>;

// What is known of the shapes of `graph` where these are fed. Names that the graph does not have
// are skipped; outputs of nodes whose shape functions fail are unknown. Knows no node if the graph
// has a cycle.
GraphShapes ShapesWithFeeds(const Graph& graph, const FedShapes& fed);

}  // namespace tenon::cli
