// Turns constants of a self-checking graph's case into inputs, as models have them, so that passes
// cannot compute away what depends on them.
#pragma once

#include <string>
#include <vector>

#include "executor/cli/check/check_case.h"
#include "graph/ir/graph.h"
#include "graph/tensor/tensor.h"

namespace tenon::cli {

// The feeds of a case. `feeds` and `values` have the same order and length.
struct CaseInputs {
  std::vector<std::string> feeds;  // names of the Placeholders
  std::vector<Tensor> values;
};

// Changes `graph`, which must be GraphOfCase of this case, with its gradients if it asks for them.
// First removes all nodes that neither the fetches nor the loss of the case need; the constants
// with the expected results go too. Then turns constants into Placeholders of their type and shape,
// and returns their values.
//
// Tries one constant after the other, those nearest to the fetches first. A constant stays a
// constant if the inferred shape of any node would be less known without its value: passes and
// kernels need to know shapes. All constants stay if shape inference fails, or if the case must
// fail. Constants in bodies of functions, and constants with control inputs, stay too. If all stay,
// the result is empty.
CaseInputs FeedConstants(const CheckCase& c, Graph& graph);

}  // namespace tenon::cli
