// TensorFlow's aggressive shape inference. Private to optimizer_api/.
#pragma once

#include "graph/shapes/shape_inference.h"
#include "grappler_lite/pipeline/pass.h"

namespace tenon {

// Adds to the shapes that n's shape function has found: shapes that profiling has noted at the
// node, and small values computed from known values. For ShapeOptions::refine. With a null
// `evaluator` nothing is computed.
void RefineAggressively(const Graph& graph, NodeId n, NodeEvaluator* evaluator,
                        InferenceContext& context);

}  // namespace tenon
