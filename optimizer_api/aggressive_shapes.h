// What TensorFlow infers of shapes when it is asked to be aggressive. Private to optimizer_api/.
#pragma once

#include "graph/shapes/shape_inference.h"
#include "grappler_lite/pipeline/pass.h"

namespace tenon {

// Takes the shapes that profiling has noted at a node for those that its shape function does not
// find, and computes small numbers from known ones. For ShapeOptions::refine. `evaluator` may be
// null: then nothing is computed.
void RefineAggressively(const Graph& graph, NodeId n, NodeEvaluator* evaluator,
                        InferenceContext& context);

}  // namespace tenon
