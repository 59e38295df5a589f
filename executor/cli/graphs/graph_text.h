// Writes graphs as text for people: a line for each node, large constants abbreviated. Malformed
// attributes are marked as such; no call fails.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "executor/values/text.h"
#include "graph/ir/graph.h"
#include "grappler_lite/provenance/graph_changes.h"

namespace tenon::cli {

// "true", "DT_FLOAT", "[2,?]", "f32[2] 1 2". A tensor of more than 8 elements has a checksum in
// their place.
std::string AttrText(const AttrValue& value);

// "f32[2,3] #1a2b3c4d" for a serialized TensorProto; the number is the CRC-32C of its bytes.
std::string ChecksumText(std::string_view wire);

// "y = AddV2(a, b:1, ^c) T=DT_FLOAT @/device:APU:0"
std::string NodeText(const Graph& graph, NodeId n);

// A line for each node, in the order of ids.
std::string GraphText(const Graph& graph);

// The nodes that changed, as lines with '-' and '+' in front.
std::string DiffText(const Graph& before, const Graph& after,
                     const std::vector<NodeChange>& changes, const Style& style);

}  // namespace tenon::cli
