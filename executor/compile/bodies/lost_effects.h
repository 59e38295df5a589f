// Errors of a function's unread nodes, kept when passes inline calls into its body.
// Private to executor/compile/bodies/.
#pragma once

#include "graph/functions/function_graph.h"

namespace tenon {

// A stateful call ends before its caller ends, so an error of the called function fails the caller.
// After the call is inlined, nothing waits for a node of the called function that is not stateful
// and that no result reads: its error would be lost. This function adds control edges so that the
// first result of `body` waits for each of these nodes that may fail. If a node needs that result,
// an Identity behind the result waits in its place and becomes the result. Does nothing if `body`
// has no results. Cannot fail. `function`: the body before the passes ran, from `library`.
void AwaitLostEffects(const Graph& library, const FunctionEntry& function, FunctionGraph& body);

}  // namespace tenon
