// Writes graphs as text for people: a line for each node, constants of many elements and long texts
// abbreviated. Malformed texts and lists, and tensors that TensorFromWire refuses, are marked as
// such; no call fails. Bodies of functions are not written.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "executor/values/text.h"
#include "graph/ir/graph.h"
#include "grappler_lite/provenance/graph_changes.h"

namespace tenon::cli {

// "true", "DT_FLOAT", "[2,?]", "f32[2] 1 2". A tensor of more than 8 elements is its ChecksumText;
// a smaller one shows its elements whole, strings too. A text is quoted and cut at 80 bytes. A list
// shows all its items. A function is its name.
std::string AttrText(const AttrValue& value);

// "f32[2,3] #1a2b3c4d" for the serialized TensorProto `wire`. The number is the CRC-32C of `wire`:
// the same values serialized in another way have another number. "<malformed tensor>" where
// TensorFromWire fails, which decodes the tensor: also for resources and variants.
std::string ChecksumText(std::string_view wire);

// "y = AddV2(a, b:1, ^c) T=DT_FLOAT @/device:APU:0", without a line end.
std::string NodeText(const Graph& graph, NodeId n);

// The NodeText of each node, in the order of ids, each with a line end.
std::string GraphText(const Graph& graph);

// For each change, in order: a line "- " with the node of `before`, then a line "+ " with the node
// of `after`, as far as they exist. `changes` are those between the two graphs. Each line has a
// line end. Empty if there is no change.
std::string DiffText(const Graph& before, const Graph& after,
                     const std::vector<NodeChange>& changes, const Style& style);

}  // namespace tenon::cli
