// Values of a body that are dead in some runs: those behind a Switch, up to the Merge. A forward
// function cannot give such a value, so it gives a stand-in where the value is dead, and a Switch
// in the backward function makes the value dead again. Private to graph/gradients/functional/.
#pragma once

#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "graph/gradients/control_flow/sides.h"
#include "graph/gradients/graph_builder.h"
#include "graph/ir/graph.h"

namespace tenon::gradients {

// Adds the nodes for such values. Errors go to the builder (GraphBuilder::Fail); a function then
// returns an Output of kNoNode. `b` and `sides` must outlive the object. Not thread-safe.
class DeadValues {
 public:
  DeadValues(GraphBuilder& b, const Sides& sides) : b_(b), sides_(sides) {}

  // Returns the output that the nodes of the gradient read in place of `value`, which is dead at
  // times. Adds its nodes once for each value. UNIMPLEMENTED for a value on several sides, and for
  // a handle that a branch makes.
  Output Again(Output value);
  // The nodes that have been added to compute stand-ins: they are no part of the gradient.
  const std::vector<NodeId>& forward() const { return forward_; }

 private:
  Output Remember(Output value);
  Output BeforeSwitch(Output value) const;
  Output Wrap(Output value, int side);
  Output StandIn(int side, DataType type);

  GraphBuilder& b_;
  const Sides& sides_;
  std::vector<NodeId> forward_;
  absl::flat_hash_map<Output, Output> again_;  // for nodes of the gradient, by what they had read
  absl::flat_hash_map<std::pair<int, DataType>, Output> stand_ins_;
};

}  // namespace tenon::gradients
