// What a call did besides its results, when the call is inlined into a body. Private to
// executor/compile/bodies/.
#pragma once

#include "graph/functions/function_graph.h"

namespace tenon {

// A call with a stateful op is done before its caller is. Its function may hold nothing stateful;
// once the call is inlined, nothing waits for what the function did and nobody reads. If such a
// node may fail, a result of `body` waits for it from now on. `function`: the body as it was, of
// `library`.
void AwaitLostEffects(const Graph& library, const FunctionEntry& function, FunctionGraph& body);

}  // namespace tenon
