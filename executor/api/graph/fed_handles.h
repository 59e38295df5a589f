// Ops that need to know more of an input than a placeholder tells.
#pragma once

#include "absl/status/status.h"
#include "executor/api/graph/tf_graph.h"

namespace tenon::api {

// INVALID_ARGUMENT, in TensorFlow's words, where node n of `graph` reads a placeholder as a sparse
// matrix, as the handle of a variable that it counts, or as the scalar that stands for any shape of
// a list's elements. The shapes of n's inputs must be known. Nodes of functions are not asked: what
// they get is known when they are called.
absl::Status CheckFedHandles(const TF_Graph& graph, NodeId n);

}  // namespace tenon::api
