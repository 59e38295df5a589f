// Turns the variables of a session that no run changes into constants, so that passes and plans can
// use their values. A model's weights are such variables.
#pragma once

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "graph/ir/graph.h"
#include "plugin/kernels/resource.h"

namespace tenon {

// Immutable once made, so const calls are thread-safe. Owns its graph.
class FixedVariables {
 public:
  // Makes a constant for each node of `variables` with a value; one in a device's memory is copied
  // to the host. A variable without a name, without a value, or of a type that is neither plain
  // bytes nor strings gets none. Each node of a variable has a copy of the value in the storage of
  // the graph. A variable of numbers in `resources` then shares the last of these copies, in host
  // memory. A variable of strings keeps its own besides. `variables` are nodes of `graph`, as
  // UseOfVariables names them. No run may change these variables meanwhile. Errors are those of
  // reading a variable and of adding a node; after an error all variables keep their values.
  static absl::StatusOr<FixedVariables> Make(const Graph& graph, absl::Span<const NodeId> variables,
                                             ResourceManager& resources);

  // A copy of the graph that Make was given, with the constants besides; no node reads them.
  const Graph& graph() const { return graph_; }
  // The constant for each variable that got one. Both are nodes of graph(); the ids of variables
  // are also those of the graph that Make was given.
  const absl::flat_hash_map<NodeId, NodeId>& constants() const { return constants_; }

  // Lets nodes of `graph` read a constant in place of a variable: ReadVariableOp, ResourceGather
  // and ResourceGatherNd with the variable's dtype, and Identity of a reference variable. `graph`
  // must be a copy of the graph that Make was given, or made from such a copy with the same ids of
  // variables; an id that is no variable there is skipped. Handles are followed through Identity,
  // and through loops and branches that are lowered to Switch, Merge and Enter; a handle that a
  // Merge may mix with another variable's is not. Reads inside a function stay. A reader keeps its
  // control inputs, except some of those from nodes that can neither fail, be dead nor change
  // anything. After an error `graph` is half changed.
  absl::Status ReplaceReads(Graph& graph) const;

 private:
  explicit FixedVariables(const Graph& graph) : graph_(graph) {}
  absl::Status Add(NodeId variable, ResourceManager& resources);

  Graph graph_;  // holds the constants
  absl::flat_hash_map<NodeId, NodeId> constants_;
};

}  // namespace tenon
