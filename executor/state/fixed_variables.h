// Variables that stay as they are, as constants: a model's weights, for passes and plans.
#pragma once

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "graph/ir/graph.h"
#include "plugin/kernels/resource.h"

namespace tenon {

// Immutable once made; thread-safe.
class FixedVariables {
 public:
  // Of these variables of `graph` those that have a value in host memory. The value moves into the
  // storage of the graph, and the variable looks at it there: it is in memory once.
  static absl::StatusOr<FixedVariables> Make(const Graph& graph, absl::Span<const NodeId> variables,
                                             ResourceManager& resources);

  // The graph with a constant beside each of the variables, by node of the variable.
  const Graph& graph() const { return graph_; }
  const absl::flat_hash_map<NodeId, NodeId>& constants() const { return constants_; }

  // Lets nodes that read such a variable take a constant, in a graph that was made from the one
  // that Make was given. Handles are followed through Identity, and through loops and branches that
  // are written out; what has gone into a call is left. A reader goes on waiting for what it waits
  // for, unless that can neither fail nor be dead.
  absl::Status ReplaceReads(Graph& graph) const;

 private:
  explicit FixedVariables(const Graph& graph) : graph_(graph) {}
  absl::Status Add(NodeId variable, ResourceManager& resources);

  Graph graph_;  // holds the constants
  absl::flat_hash_map<NodeId, NodeId> constants_;
};

}  // namespace tenon
