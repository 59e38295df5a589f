// Arguments and results of a function's body in plug-ins' form. Private to optimizer_api/.
#pragma once

#include "absl/status/status.h"
#include "graph/ir/graph.h"
#include "optimizer_api/plugin_optimizer.h"

namespace tenon {

// Turns each argument into an _Arg and each result into a _Retval, as TensorFlow shows bodies to
// its passes. A reader of a result reads the result's input instead. Node ids stay.
void ShowEnds(Graph& body, const OptimizerItem& item);

// The reverse: turns each _Arg and _Retval of `answer` back into the node that `before` has.
// INVALID_ARGUMENT if an _Arg or _Retval is not as `shown` has it. `answer` must share the storage
// of `before` and `shown`.
absl::Status HideEnds(const Graph& before, const Graph& shown, const OptimizerItem& item,
                      Graph& answer);

}  // namespace tenon
