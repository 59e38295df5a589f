// Arguments and results of a function's body as plug-ins know them. Private to optimizer_api/.
#pragma once

#include "absl/status/status.h"
#include "graph/ir/graph.h"
#include "optimizer_api/plugin_optimizer.h"

namespace tenon {

// Makes an _Arg of each argument and a _Retval of each result, as TensorFlow shows bodies to its
// passes. Who read a result reads what it read. Node ids stay.
void ShowEnds(Graph& body, const OptimizerItem& item);

// Makes of an answer to that what `before` has for them. INVALID_ARGUMENT if one is not as it was
// shown. `answer` shares the storage of both.
absl::Status HideEnds(const Graph& before, const Graph& shown, const OptimizerItem& item,
                      Graph& answer);

}  // namespace tenon
