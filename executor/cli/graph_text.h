// Graphs as lines for people: one per node, large constants abbreviated.
#pragma once

#include <string>

#include "graph/graph.h"

namespace tenon::cli {

// "true", "f32", "[2,?]", "f32[2] 1 2"; of a tensor of many elements a checksum in their place.
std::string AttrText(const AttrValue& value);

// "y = AddV2(a, b:1, ^c) T=f32 @/device:APU:0"
std::string NodeText(const Graph& graph, NodeId n);

// Every node, in the order of ids.
std::string GraphText(const Graph& graph);

}  // namespace tenon::cli
