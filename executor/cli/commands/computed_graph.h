// What a model computes, whatever calls it is wrapped in.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "executor/cli/model/model.h"
#include "graph/shapes/cost.h"

namespace tenon::cli {

// What the results of the model's signature, or else its outputs, need, with bodies in the place of
// calls. Loops and branches stay nodes. Errors are those of Session::Prepare.
absl::StatusOr<Graph> ComputedGraph(const Model& model);

// EstimateFlops, and what the bodies of loops and branches are: each once.
FlopEstimate EstimateFlopsWithBodies(const Graph& graph, const GraphShapes& shapes);

struct VariableSummary {
  int64_t count = 0;
  int64_t parameters = 0, bytes = 0;  // of those of known shape
  std::vector<std::string> changed;   // nodes of those that the model may change
};
// Of a SavedModel: the variables that the signature, or if there is none any signature, needs.
VariableSummary SummarizeVariables(const Model& model);

}  // namespace tenon::cli
