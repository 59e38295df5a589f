// Words an error of a shape function as TensorFlow does.
#pragma once

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "executor/api/graph/tf_graph.h"
#include "graph/ir/graph.h"
#include "graph/shapes/shape_inference.h"

namespace tenon::api {

// `status`: the error of node n's shape function for `context`. TensorFlow calls the function with
// the shapes of the inputs first, and then with their values too, and reports the first error. So
// the function is called again without values: if it fails then, that error takes the place of
// `status`. The result is the error, followed by the node with its attributes, the shapes of its
// inputs and, if values were needed for it, those that the function has read. A few errors that
// TensorFlow reports bare (InferenceContext::kInvalidShapeValue, kInvalidShapeScalar) stay as they
// are.
absl::Status DescribeShapeError(const Graph& graph, NodeId n, const InferenceContext& context,
                                const absl::Status& status);

// The same for node n of `graph`, with the shapes that graph.shapes has of its inputs.
absl::Status DescribeShapeError(const TF_Graph& graph, NodeId n, const absl::Status& status)
    ABSL_SHARED_LOCKS_REQUIRED(graph.mutex);

}  // namespace tenon::api
