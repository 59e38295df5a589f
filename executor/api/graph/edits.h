// Whether a graph is still right after TF_SetAttr, TF_ClearAttr and TF_UpdateEdge, which leave that
// to whoever uses the graph, as in TensorFlow.
#pragma once

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "executor/api/graph/tf_graph.h"

namespace tenon::api {

// Checks the nodes in `edited`, where a node may stand several times, and those that read them: the
// number and types of inputs, that what they read is there, attributes and constants; and that the
// graph has no cycle but loops. INVALID_ARGUMENT names the first node that is wrong. O(nodes and
// edges of the graph); does nothing without `edited`.
absl::Status CheckEdits(const Graph& graph, absl::Span<const NodeId> edited);

// CheckEdits of all edits of `graph`. What TF_TryEvaluateConstant, gradients and functions read
// must be right.
absl::Status CheckEdits(const TF_Graph& graph) ABSL_SHARED_LOCKS_REQUIRED(graph.mutex);

}  // namespace tenon::api
