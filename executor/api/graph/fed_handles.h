// Ops that need to know more of an input than a placeholder tells.
#pragma once

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "executor/api/graph/tf_graph.h"

namespace tenon::api {

// INVALID_ARGUMENT, in TensorFlow's words, if node n of `graph` reads a node of op Placeholder (no
// other op counts) in one of these ways:
//   * as a variant input of an op whose name begins with CSRSparseMatrix or SparseMatrix;
//   * as an input of ResourceCountUpTo, where the graph has noted no shape for the handle;
//   * as the input `element_shape` or `dense_values_shape` of an op whose name has "TensorList" in
//     it (but not of TensorListPopBack), or of RaggedTensorToVariantGradient, if the placeholder is
//     a scalar. A scalar there means "any shape" and must be -1, and a placeholder has no known
//     value.
// graph.shapes must know n's inputs. To be called for nodes of the graph itself, not for nodes of
// functions: what these read is known only when the function is called.
absl::Status CheckFedHandles(const TF_Graph& graph, NodeId n)
    ABSL_SHARED_LOCKS_REQUIRED(graph.mutex);

}  // namespace tenon::api
