// Words an error of a shape function as TensorFlow does.
#pragma once

#include "absl/status/status.h"
#include "graph/ir/graph.h"
#include "graph/shapes/shape_inference.h"

namespace tenon::api {

// `status`, or what the shape function says where it sees the shapes of the inputs only, followed
// by the node with its attributes, the shapes of its inputs, and the values that the function has
// read.
absl::Status DescribeShapeError(const Graph& graph, NodeId n, const InferenceContext& context,
                                const absl::Status& status);

}  // namespace tenon::api
