// A case of a self-checking graph as a model is: its inputs are fed, and no constants that passes
// compute away.
#pragma once

#include <string>
#include <vector>

#include "executor/cli/check/check_case.h"
#include "graph/ir/graph.h"
#include "graph/tensor/tensor.h"

namespace tenon::cli {

struct CaseInputs {
  std::vector<std::string> feeds;  // nodes
  std::vector<Tensor> values;
};

// Takes away what the case's fetches are not computed from, its answers among it. Then makes the
// constants Placeholders of their type and shape, to be fed. Those whose values decide a shape
// stay: passes and kernels want to know them. A case that is to fail keeps all of its constants.
CaseInputs FeedConstants(const CheckCase& c, Graph& graph);

}  // namespace tenon::cli
