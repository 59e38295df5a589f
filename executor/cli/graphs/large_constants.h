// Graphs for people to read and compare, however many weights they have.
#pragma once

#include "graph/ir/graph.h"

namespace tenon::cli {

// Of a value's bytes: enough for every constant that decides shapes, axes or sizes.
inline constexpr size_t kLargeConstant = 1024;

// A copy in which larger constants, those of functions too, are Placeholders of their type and
// shape: it loads, and nobody takes what it answers for the model's answers. The attribute
// `_tenon_constant` of such a node has type, shape and checksum: "f32[64,256] #1a2b3c4d".
Graph WithoutLargeConstants(const Graph& graph);

}  // namespace tenon::cli
