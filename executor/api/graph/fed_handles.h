// Ops that need to know more of an input than a placeholder tells.
#pragma once

#include "absl/status/status.h"
#include "executor/api/graph/tf_graph.h"

namespace tenon::api {

// INVALID_ARGUMENT, in TensorFlow's words, if node n of `graph` reads a node of op Placeholder (no
// other op counts) in one of these ways:
//   * as a variant input of an op whose name begins with CSRSparseMatrix or SparseMatrix;
//   * as an input of ResourceCountUpTo, where the graph has noted no shape for the handle;
//   * as the input `element_shape` or `dense_values_shape`, and a scalar, of an op whose name has
//     "TensorList" in it (but not of TensorListPopBack), or of RaggedTensorToVariantGradient. Such
//     a scalar means "any shape", and must be known to be -1.
// graph.shapes must know n's inputs. To be called for nodes of the graph itself, not for those of
// functions: what these read is known only when they are called.
absl::Status CheckFedHandles(const TF_Graph& graph, NodeId n);

}  // namespace tenon::api
