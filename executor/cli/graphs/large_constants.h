// Takes large constants out of graphs, so that people can read and compare them.
#pragma once

#include "graph/ir/graph.h"

namespace tenon::cli {

// Encoded bytes of a constant's value: of the attribute for nodes of the graph itself, of the
// tensor alone in functions. Constants that decide shapes, axes or sizes are rarely as large, so
// that they stay readable.
inline constexpr size_t kLargeConstant = 1024;

// Returns a copy in which each constant above kLargeConstant is a Placeholder of the constant's
// type and shape, in functions too. Such a node keeps its name and its inputs. Its attribute
// `_tenon_constant` is ChecksumText of the value: "f32[64,256] #1a2b3c4d". In functions the size
// and the checksum are those of the TensorProto as protobuf writes it anew. A constant of the graph
// itself stays if its value cannot be decoded. The copy can be loaded, but a run that needs such a
// node fails without a feed: nobody can take its results for results of the model.
Graph WithoutLargeConstants(const Graph& graph);

}  // namespace tenon::cli
