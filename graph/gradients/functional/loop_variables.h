// What the variables of a functional loop do in its body. Private to graph/gradients/functional/.
#pragma once

#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "graph/functions/function_graph.h"
#include "graph/ir/graph.h"

namespace tenon::gradients {

struct LoopVariables {
  std::vector<bool> is_invariant;      // the body gives it on as its own result
  std::vector<bool> carries_gradient;  // its gradient must go from iteration to iteration
};

// Looks at the function `body`. `wanted` marks the variables whose gradients are asked for, and
// `reached` those into whose last values a gradient flows. A variable carries a gradient if its
// type does (CarriesGradient), a variable of `wanted` reaches it, and it reaches a variable of
// `reached`, both in any number of iterations, none included. `wanted` and `reached` have an
// element for each variable. Errors are those of FunctionGraph::Make, and INVALID_ARGUMENT for a
// function that does not exist and for a body that does not give as many results as it takes
// arguments, or another number than there are variables.
absl::StatusOr<LoopVariables> FindLoopVariables(const Graph& graph, std::string_view body,
                                                std::vector<bool> wanted,
                                                std::vector<bool> reached);

// The same for a body that is no function of the library. It must have an argument and a result for
// each variable.
LoopVariables FindLoopVariables(const FunctionGraph& body, std::vector<bool> wanted,
                                std::vector<bool> reached);

}  // namespace tenon::gradients
