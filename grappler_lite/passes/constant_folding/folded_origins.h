// Remembers what values were made of before they became constants.
#pragma once

#include <span>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "grappler_lite/pipeline/pass.h"

namespace tenon {

// Keeps the errors of runs. Folding may replace a node by a constant although a producer of the
// node may fail: nothing needs the producer any more, and a run would miss its error. So each
// constant that the run needs gets a control edge from every such producer that may fail, unless
// the run needs the producer anyway. Each time that constant folding folds a graph, it uses an
// object of its own.
class FoldedOrigins {
 public:
  // Notes that n, which still has its data inputs, becomes `constant`; the two may be one node.
  // Call it for producers before users.
  void Note(const Graph& graph, NodeId n, NodeId constant);
  // Adds the control edges. Call it once, when folding ends and before nodes are removed. `shapes`
  // describes the graph before folding. It may be null: then fewer nodes are known not to fail.
  void KeepErrors(PassContext& context, const GraphShapes* shapes) const;

 private:
  class Keeper;

  std::vector<NodeId> folded_;  // constants that were made of more than constants
  absl::flat_hash_map<NodeId, std::vector<NodeId>>
      origins_;  // by such a constant: the nodes that it was made of
};

}  // namespace tenon
