// What values were made of before they became constants.
#pragma once

#include <span>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "grappler_lite/pipeline/pass.h"

namespace tenon {

// Keeps the errors of what nobody needs any more since a value that was made of it is known: a
// constant waits for such a node where it may fail.
class FoldedOrigins {
 public:
  // `constant` is what n, which still has its data inputs, becomes.
  void Note(const Graph& graph, NodeId n, NodeId constant);
  // Adds the control edges. `shapes` may be null.
  void KeepErrors(PassContext& context, const GraphShapes* shapes) const;

 private:
  class Keeper;

  std::vector<NodeId> folded_;  // whose values were made of other things than constants
  absl::flat_hash_map<NodeId, std::vector<NodeId>> origins_;  // of these
};

}  // namespace tenon
