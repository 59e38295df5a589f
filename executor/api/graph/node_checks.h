// Checks a node that was added to a graph, as TensorFlow does.
#pragma once

#include "absl/status/status.h"
#include "executor/api/graph/tf_graph.h"

namespace tenon::api {

// Checks op and attributes of a node, and the number of its inputs, but not their types. The op
// must be known. INVALID_ARGUMENT, or UNIMPLEMENTED for an op that is out of use in graphs of
// version `producer`. The attributes of a kind that was right before are not checked again. A
// placeholder fits any attribute but one that counts tensors.
absl::Status CheckKindOf(TF_Graph& graph, NodeId n, int producer)
    ABSL_EXCLUSIVE_LOCKS_REQUIRED(graph.mutex);

// Infers the shapes of the last node, after KnowShapes for all nodes before it. The last node must
// have none yet. Errors of the shape function have TensorFlow's form: what is wrong, the node with
// its attributes, the shapes of its inputs.
absl::Status InferNewNode(TF_Graph& graph) ABSL_EXCLUSIVE_LOCKS_REQUIRED(graph.mutex);

// Merges `shape` into what is known of an output; the shapes of later nodes stay as they are.
// INVALID_ARGUMENT if they contradict each other.
absl::Status MergeShape(TF_Graph& graph, Output output, const PartialShape& shape)
    ABSL_EXCLUSIVE_LOCKS_REQUIRED(graph.mutex);

// CheckKindOf and InferNewNode for `n`, which must be the node that was added last, and
// INVALID_ARGUMENT for an op without a shape function if the graph requires one. After an error the
// node is out of the graph.
absl::Status CheckNewNode(TF_Graph& graph, NodeId n) ABSL_EXCLUSIVE_LOCKS_REQUIRED(graph.mutex);

}  // namespace tenon::api
