// Shapes of what a call returns: they follow from the body of its function.
#pragma once

#include "absl/status/status.h"
#include "executor/api/graph/tf_graph.h"

namespace tenon::api {

// Makes known in graph.shapes what the outputs of node `n` are, if it calls a function of the
// graph: an op with a function's name, a PartitionedCall, or a While whose body keeps the shapes of
// its loop variables. The shape functions run over the body with what is known of the inputs; calls
// inside are looked into to a depth of 16, and 100,000 nodes in all. Does nothing for other nodes,
// for functions that do not exist, and for bodies that FunctionGraph::Make refuses for other
// reasons than these. Errors have TensorFlow's codes. The body of a While has none: where it is
// wrong, nothing is known of the outputs. For the body of any other call, and for bodies called
// inside:
//   NOT_FOUND         a node has an op that is not registered, or lacks an attribute that types an
//                     input or output
//   INVALID_ARGUMENT  a result has no source, or one that does not exist; Make refuses the body as
//                     INVALID_ARGUMENT or ALREADY_EXISTS; a shape function fails
//   INTERNAL          the function has more arguments or results than the node
absl::Status InferCall(TF_Graph& graph, NodeId n) ABSL_EXCLUSIVE_LOCKS_REQUIRED(graph.mutex);

}  // namespace tenon::api
