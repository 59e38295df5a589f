// TensorFlow's aggressive shape inference. Private to optimizer_api/.
#pragma once

#include "graph/shapes/shape_inference.h"
#include "grappler_lite/pipeline/pass.h"

namespace tenon {

// Adds to `context`, in which n's shape function has run: shapes that a profile of TensorFlow has
// noted at the node, in the place of compatible shapes that are not fully known; and values of at
// most 17 elements that are computed from known values, unless n has control inputs. For
// ShapeOptions::refine.
//
// A null `evaluator` computes nothing. A value that cannot be computed stays unknown: errors are
// for the run. Thread-safe, as plug-ins may ask from several threads: one value at a time is
// computed in the process.
void RefineAggressively(const Graph& graph, NodeId n, NodeEvaluator* evaluator,
                        InferenceContext& context);

}  // namespace tenon
