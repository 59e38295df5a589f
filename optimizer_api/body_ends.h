// Arguments and results of a function's body in plug-ins' form. Private to optimizer_api/.
#pragma once

#include "absl/status/status.h"
#include "graph/ir/graph.h"
#include "optimizer_api/plugin_optimizer.h"

namespace tenon {

// Turns the nodes in item.args into _Arg and the nodes in item.results into _Retval, as TensorFlow
// shows bodies to its passes; kNoNode entries are left out. Besides T and index an _Arg has the
// attributes that the function item.function notes for the argument. A _Retval has no output: a
// node that read a result reads the result's input instead, and waits for the nodes that the result
// waits for. Node ids stay. Does nothing if the item has neither arguments nor results.
void ShowEnds(Graph& body, const OptimizerItem& item);

// The reverse, for the answer of a pass: turns each _Arg and _Retval of `answer` back into the op,
// with the attributes, that its node has in `before`. Edges stay as the pass has left them.
// `before` is the body before ShowEnds, `shown` the body after it. `answer` must have the node
// ids of `shown` and share the storage of that Graph. INVALID_ARGUMENT if an _Arg or a _Retval is
// gone, or has another op or other attributes than in `shown`; names the node. Then `answer` is as
// it was.
absl::Status HideEnds(const Graph& before, const Graph& shown, const OptimizerItem& item,
                      Graph& answer);

}  // namespace tenon
