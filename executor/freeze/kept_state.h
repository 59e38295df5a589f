// What a frozen graph holds beside constants: tables, and variables that stay. A node of the graph
// fills them with what the model's initializers gave them.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "executor/state/state_makers.h"
#include "graph/ir/graph.h"
#include "graph/tensor/tensor.h"

namespace tenon {

// Used once: Find, KeepVariable for each, AddReads, AddInit. Views of the graph that Find was
// given.
class KeptState {
 public:
  // The tables of `graph`, which holds what a signature needs and `model` much more. `fillers` are
  // nodes of `model`: those that restore and initialize it. FAILED_PRECONDITION names a table that
  // nothing fills, UNIMPLEMENTED what they fill and cannot be filled by another node.
  static absl::StatusOr<KeptState> Find(const Graph& graph, const Graph& model,
                                        absl::Span<const NodeId> fillers);

  // Nodes of the graph that are variables which functions make too: nobody can fold them.
  const std::set<std::string>& shared_variables() const { return shared_variables_; }
  // A variable that is a node of the graph, and stays one.
  void KeepVariable(const Graph& graph, std::string_view name);

  // Adds to `model`, or a copy of it, what reads all of it; the outputs to fetch.
  absl::StatusOr<std::vector<std::string>> AddReads(Graph& model) const;

  struct Init {
    std::string node;                            // empty: there is nothing to fill
    std::vector<std::string> tables, variables;  // nodes of the graph
  };
  // Adds to the frozen graph the node that fills it, with `values` of AddReads.
  absl::StatusOr<Init> AddInit(Graph& frozen, absl::Span<const Tensor> values) const;

 private:
  // The node that makes it, or in a graph without it, as functions are no nodes, its twin.
  static absl::StatusOr<NodeId> HandleIn(Graph& graph, const ReachedNode& maker);

  std::vector<ReachedNode> variables_, tables_;
  std::set<std::string> shared_variables_;
};

// The first variable, or table that is filled once, of a graph without nodes that would fill one:
// "node 'x' (Op)". Empty if there is none.
std::string UnfilledState(const Graph& graph);

}  // namespace tenon
