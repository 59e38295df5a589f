// Ops whose inputs must be known when a graph is built.
#pragma once

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "executor/api/graph/tf_graph.h"

namespace tenon::api {

// INVALID_ARGUMENT, in TensorFlow's words, if node n of `graph` is of an op whose shape function in
// TensorFlow refuses an unknown rank or an unknown dimension of an input: SpaceToBatchND and
// BatchToSpaceND (of block_shape), RandomIndexShuffle (of the last dimension of the seed),
// FusedPadConv2D and FusedResizeAndPadConv2D (of the paddings), and the ops that make sparse
// matrices of tensors. Nodes of all other ops pass. graph.shapes must know n's inputs. To be called
// for nodes of the graph itself, not for nodes of functions: TensorFlow knows of these what a call
// brings.
absl::Status CheckKnownInputs(const TF_Graph& graph, NodeId n)
    ABSL_SHARED_LOCKS_REQUIRED(graph.mutex);

}  // namespace tenon::api
