// What many places ask about single nodes.
#pragma once

#include "absl/status/status.h"
#include "graph/graph.h"

namespace tenon {

// Placeholder, PlaceholderV2: without a value unless one is fed.
bool IsPlaceholder(const Graph& graph, NodeId n);

// "file:line:col: node 'x' (Op): message", with the status's code; without a node the same status.
absl::Status NodeError(const Graph& graph, NodeId n, const absl::Status& status);

}  // namespace tenon
