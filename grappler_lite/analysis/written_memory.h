// Values that lie in the memory of a variable: who reads one later may read something else.
#pragma once

#include "absl/container/flat_hash_set.h"
#include "graph/ir/graph.h"

namespace tenon {

// Of the variables that are held by reference, and only if a node of the graph writes any. An
// Identity of such a variable copies nothing, so that its users read what is there when they run.
class WrittenMemory {
 public:
  explicit WrittenMemory(const Graph& graph);

  bool empty() const { return nodes_.empty(); }
  // Whether outputs of n may lie there.
  bool IsIn(NodeId n) const { return !empty() && nodes_.contains(n); }
  // Whether n reads one that does.
  bool IsReadBy(const Graph& graph, NodeId n) const;

 private:
  absl::flat_hash_set<NodeId> nodes_;
};

}  // namespace tenon
