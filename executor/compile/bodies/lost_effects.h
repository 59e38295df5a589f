// Errors of a function's unread nodes, kept when passes inline calls into its body.
// Private to executor/compile/bodies/.
#pragma once

#include "graph/functions/function_graph.h"

namespace tenon {

// A stateful call ends before its caller ends, so an error of the called function fails the caller.
// After the call is inlined into `body`, the error of a node of the called function is lost if no
// result, no stateful node and no control output of `function` needs the node. This function adds
// control edges so that the first result of `body` waits for each such node that may fail. If one
// of these nodes itself needs the first result, a new Identity behind the result waits instead and
// becomes the result. Does nothing if `body` has no results, or if the Identity cannot be added. No
// result may have been removed (kNoNode).
// `function`: the function of `library` that `body` was made from, as it was before the passes ran.
void AwaitLostEffects(const Graph& library, const FunctionEntry& function, FunctionGraph& body);

}  // namespace tenon
