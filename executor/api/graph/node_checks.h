// Checks a node that was added to a graph, as TensorFlow does.
#pragma once

#include "absl/status/status.h"
#include "executor/api/graph/tf_graph.h"

namespace tenon::api {

// Checks op and attributes of a node, and the number of its inputs, but not their types.
// INVALID_ARGUMENT, or UNIMPLEMENTED for an op that is out of use in graphs of version `producer`.
// A kind that was right before is not checked again.
absl::Status CheckKindOf(TF_Graph& graph, NodeId n, int producer)
    ABSL_EXCLUSIVE_LOCKS_REQUIRED(graph.mutex);

// Infers the shapes of the node behind those whose shapes are known. Errors of the shape function
// have TensorFlow's form: what is wrong, the node with its attributes, the shapes of its inputs.
absl::Status InferNewNode(TF_Graph& graph) ABSL_EXCLUSIVE_LOCKS_REQUIRED(graph.mutex);

// Merges `shape` into what is known of an output. INVALID_ARGUMENT if they contradict each other.
absl::Status MergeShape(TF_Graph& graph, Output output, const PartialShape& shape)
    ABSL_EXCLUSIVE_LOCKS_REQUIRED(graph.mutex);

// CheckKindOf and InferNewNode for the node that was added last. After an error the node is out of
// the graph.
absl::Status CheckNewNode(TF_Graph& graph, NodeId n) ABSL_EXCLUSIVE_LOCKS_REQUIRED(graph.mutex);

}  // namespace tenon::api
