// Finds what a model computes, behind the calls that it is wrapped in.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "executor/cli/model/model.h"
#include "graph/shapes/cost.h"

namespace tenon::cli {

// A copy of model.graph with bodies in place of the calls that can be inlined, and without the
// nodes that no result needs. Results are those of model.signature or, without one, GraphOutputs.
// Other calls, loops and branches stay nodes. Errors are those of Session::Create and
// Session::Prepare.
absl::StatusOr<Graph> ComputedGraph(const Model& model);
// The same for a run that feeds `feeds` and fetches `fetches` ("node", "node:1" or "^node"). A call
// that is fetched becomes an Identity or IdentityN of its name.
absl::StatusOr<Graph> ComputedGraph(const Graph& written, const std::vector<std::string>& feeds,
                                    const std::vector<std::string>& fetches);

// EstimateFlops of the graph and of the functions that its nodes call, such as bodies of loops and
// branches, and what these call. A body counts each time that a node names it: a loop as one pass,
// a branch with all its alternatives. At most 10,000 bodies count. Each further body that a counted
// node names adds one to unknown_nodes, and so does a malformed one. If the shapes of a body cannot
// be inferred, all its nodes are unknown, and the bodies that they name do not count. `shapes` are
// those of `graph`.
FlopEstimate EstimateFlopsWithBodies(const Graph& graph, const GraphShapes& shapes);

// The variables of a model.
struct VariableSummary {
  int64_t count = 0;
  int64_t parameters = 0, bytes = 0;  // elements and bytes of the variables of known shape
  std::vector<std::string> changed;   // a node of each counted one that any signature may change
};
// Sums up, each once, the variables that the results of model.signature need or, without one, the
// results of any signature. All is 0 and empty if the model is no SavedModel.
VariableSummary SummarizeVariables(const Model& model);

}  // namespace tenon::cli
