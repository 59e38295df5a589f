// Finds values that lie in the memory of a variable that is written. A node that reads such a value
// later may read another value, so that a pass must not move the read.
#pragma once

#include "absl/container/flat_hash_set.h"
#include "graph/ir/graph.h"

namespace tenon {

// Looks at reference variables only (outputs of a reference type). If no node of the graph writes
// one, the set is empty; else all of them count, written or not. A node counts as a writer if its
// op takes an input by reference and does not only pass the memory on, but for
// IsVariableInitialized; a node that reads a reference as a value is no writer. An Identity of a
// reference variable copies nothing, so that users of the Identity read what the memory holds when
// they run. Nodes that are made later and nodes of unknown ops are not in the set. Immutable
// after construction.
class WrittenMemory {
 public:
  explicit WrittenMemory(const Graph& graph);

  bool empty() const { return nodes_.empty(); }
  // Whether an output of n may lie in the memory of a variable.
  bool IsIn(NodeId n) const { return !empty() && nodes_.contains(n); }
  // Whether a data input of n may lie in the memory of a variable.
  bool IsReadBy(const Graph& graph, NodeId n) const;

 private:
  absl::flat_hash_set<NodeId> nodes_;
};

}  // namespace tenon
