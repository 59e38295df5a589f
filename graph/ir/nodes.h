// What many places ask about single nodes.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "graph/ir/graph.h"

namespace tenon {

// Placeholder, PlaceholderV2: without a value unless one is fed.
bool IsPlaceholder(const Graph& graph, NodeId n);

// Marked `_grappler_do_not_remove`: passes leave it, and what it needs, in the graph.
bool MustStay(const Graph& graph, NodeId n);

// Whether the node, or one of this op, calls a function: such nodes have no kernels.
bool IsFunctional(const Graph& graph, NodeId n);
bool IsFunctional(const Graph& graph, std::string_view op);

// The node of "node", "node:1" or "^node", whether or not it has such an output; kNoNode if there
// is none.
NodeId NodeOfOutput(const Graph& graph, std::string_view text);

// What is wrong with a node whose op is unknown: UNIMPLEMENTED, with its place in the file.
absl::Status UnknownOpError(const Graph& graph, NodeId n);
std::string UnknownOpText(std::string_view op);

// "file:line:col: node 'x' (Op): message", with the status's code; without a node the same status.
absl::Status NodeError(const Graph& graph, NodeId n, const absl::Status& status);

}  // namespace tenon
