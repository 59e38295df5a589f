// Shapes of what a call returns: they follow from the body of its function.
#pragma once

#include "absl/status/status.h"
#include "executor/api/graph/tf_graph.h"

namespace tenon::api {

// Makes known in graph.shapes what the outputs of node `n` are, if it calls a function of the
// graph: an op with a function's name, a PartitionedCall, or a While whose `output_shapes` are
// absent or empty. Their stateful and stateless forms count too. The shape functions run over the
// body with what is known of the inputs. An output of a While keeps the dimensions that the body
// does not change; its other dimensions are unknown. If the 8th pass over the body still changes a
// dimension, nothing becomes known of any output of the While. Calls inside a body are looked into
// to a depth of 16, and to 100,000 nodes in all; the outputs of calls beyond that stay unknown.
//
// Does nothing for other nodes, for functions that do not exist, and for bodies that
// FunctionGraph::Make refuses for a reason that is not listed here. An error in the body of a
// While, or in a function called there, is not returned: the outputs of the While stay unknown. The
// errors of all other bodies have TensorFlow's codes:
//   NOT_FOUND         a node has an op that is not registered, or lacks an attribute that types an
//                     input or output
//   INVALID_ARGUMENT  a result has no source, or one that does not exist; Make refuses the body as
//                     INVALID_ARGUMENT or ALREADY_EXISTS; a shape function fails
//   INTERNAL          the function has more arguments or results than the node
absl::Status InferCall(TF_Graph& graph, NodeId n) ABSL_EXCLUSIVE_LOCKS_REQUIRED(graph.mutex);

}  // namespace tenon::api
