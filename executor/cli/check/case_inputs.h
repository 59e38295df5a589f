// Turns the constants of a self-checking graph's case into inputs, as models have them, so that
// passes cannot compute the case away.
#pragma once

#include <string>
#include <vector>

#include "executor/cli/check/check_case.h"
#include "graph/ir/graph.h"
#include "graph/tensor/tensor.h"

namespace tenon::cli {

// The feeds of a case: names and values in one order.
struct CaseInputs {
  std::vector<std::string> feeds;  // names of nodes
  std::vector<Tensor> values;
};

// Removes the nodes of `graph` that the fetches of the case do not need, the expected results among
// them. Then turns constants into Placeholders of their type and shape, and returns their values. A
// constant stays if its value decides a shape, which passes and kernels need to know. A case that
// must fail keeps all constants. `graph` is that of the case alone.
CaseInputs FeedConstants(const CheckCase& c, Graph& graph);

}  // namespace tenon::cli
