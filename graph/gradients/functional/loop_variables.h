// What the variables of a functional loop do in its body. Private to graph/gradients/functional/.
#pragma once

#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "graph/functions/function_graph.h"
#include "graph/ir/graph.h"

namespace tenon::gradients {

struct LoopVariables {
  std::vector<bool> is_invariant;      // no iteration changes it
  std::vector<bool> carries_gradient;  // its gradient must go from iteration to iteration
};

// Looks at the function `body`. A gradient goes through the variables that one of `wanted` reaches
// in some number of iterations, and that reach one of `reached` so. Both have an element for each
// variable. Errors are those of FunctionGraph::Make, and INVALID_ARGUMENT for a body that does not
// give as many results as it takes arguments, or another number than there are variables.
absl::StatusOr<LoopVariables> FindLoopVariables(const Graph& graph, std::string_view body,
                                                std::vector<bool> wanted,
                                                std::vector<bool> reached);

// The same for a body that is no function of the library. It must have an argument and a result for
// each variable.
LoopVariables FindLoopVariables(const FunctionGraph& body, std::vector<bool> wanted,
                                std::vector<bool> reached);

}  // namespace tenon::gradients
