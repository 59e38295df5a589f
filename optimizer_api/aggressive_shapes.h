// TensorFlow's aggressive shape inference. Private to optimizer_api/.
#pragma once

#include "graph/shapes/shape_inference.h"
#include "grappler_lite/pipeline/pass.h"

namespace tenon {

// Adds to `context`, in which n's shape function has run:
//   * shapes that a profile of TensorFlow has noted at the node as the same in all runs, in the
//     place of compatible shapes that are not fully known; a noted scalar or unknown rank counts as
//     no note;
//   * values and shapes that are computed from the known values of all inputs, unless n has control
//     inputs or no data inputs, or an input or output may have more than 17 elements or is neither
//     of floats, integers nor bools.
// For ShapeOptions::refine.
//
// A null `evaluator` computes nothing. A value that cannot be computed stays unknown: errors are
// for the run. Thread-safe, as plug-ins may ask from several threads: one value at a time is
// computed in the process.
void RefineAggressively(const Graph& graph, NodeId n, NodeEvaluator* evaluator,
                        InferenceContext& context);

}  // namespace tenon
