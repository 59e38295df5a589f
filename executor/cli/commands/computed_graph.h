// Finds what a model computes, behind the calls that it is wrapped in.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "executor/cli/model/model.h"
#include "graph/shapes/cost.h"

namespace tenon::cli {

// The graph that the results of the signature, or else the outputs of the graph, need, with bodies
// in place of calls. Loops and branches stay nodes. Errors are those of Session::Prepare.
absl::StatusOr<Graph> ComputedGraph(const Model& model);

// EstimateFlops of the graph and of the bodies of its loops and branches, each counted once. At
// most 10,000 bodies count. `shapes` are those of `graph`.
FlopEstimate EstimateFlopsWithBodies(const Graph& graph, const GraphShapes& shapes);

// The variables of a model.
struct VariableSummary {
  int64_t count = 0;
  int64_t parameters = 0, bytes = 0;  // elements and bytes of variables of known shape
  std::vector<std::string> changed;   // names of nodes that the model may change
};
// The variables that the signature needs or, without one, that any signature needs. Empty if the
// model is no SavedModel.
VariableSummary SummarizeVariables(const Model& model);

}  // namespace tenon::cli
