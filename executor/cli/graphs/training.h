// Tells what a training graph of TensorFlow 1 computes for its users from what it computes for
// training, for initialization, for checkpoints and for summaries. Functions are not searched.
#pragma once

#include <vector>

#include "graph/ir/graph.h"

namespace tenon::cli {

// Per node id: whether its value is a result that a user of a training graph may ask for, read by
// other results or not. It is computed from a Placeholder, and neither from a gradient nor after a
// change of a variable. Gradients are known by their names, as tf.gradients gives them
// ("gradients/…", "train/gradients/…"). A Placeholder is no result, nor is a summary or what
// becomes of one, a value that only changes of variables read, directly or by way of such values, a
// node "pred_id" of a cond, or a node in the scope of an assertion ("assert_…/").
//
// Empty if the graph is none that trains (it has no Initializer), or if no node is such a result:
// then nothing is known of what its users ask for.
std::vector<bool> ResultsOfTraining(const Graph& graph);

}  // namespace tenon::cli
