// Shapes of what a call returns: they follow from the body of its function.
#pragma once

#include "absl/status/status.h"
#include "executor/api/graph/tf_graph.h"

namespace tenon::api {

// Makes known in graph.shapes what the outputs of node `n` are, if it calls a function of the
// graph: an op with a function's name, a PartitionedCall, or a While whose body keeps the shapes of
// its loop variables. The shape functions run over the body with what is known of the inputs; calls
// inside are looked into to a depth of 16, and 100,000 nodes in all. Does nothing for other nodes,
// and for functions that do not exist or that FunctionGraph::Make refuses.
// INVALID_ARGUMENT, in TensorFlow's form, for an error of a shape function in the body of a call;
// INTERNAL, as in TensorFlow, for a function with more arguments or results than the node.
absl::Status InferCall(TF_Graph& graph, NodeId n) ABSL_EXCLUSIVE_LOCKS_REQUIRED(graph.mutex);

}  // namespace tenon::api
