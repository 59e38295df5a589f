// Takes large constants out of graphs, so that people can read and compare them.
#pragma once

#include "graph/ir/graph.h"

namespace tenon::cli {

// Bytes of a constant's value in the file. Constants that decide shapes, axes or sizes are smaller.
inline constexpr size_t kLargeConstant = 1024;

// A copy in which each larger constant, those of functions too, is a Placeholder of its type and
// shape. The copy can be loaded, but a run of it needs feeds, so that its results are never taken
// for those of the model. The attribute `_tenon_constant` of such a node has type, shape and
// checksum: "f32[64,256] #1a2b3c4d".
Graph WithoutLargeConstants(const Graph& graph);

}  // namespace tenon::cli
