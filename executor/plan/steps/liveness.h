// Liveness flags for the nodes behind a Switch; all other nodes always live and need no flag of
// their own. Adds the steps that set the flags.
#pragma once

#include <tuple>
#include <utility>

#include "absl/types/span.h"
#include "executor/plan/steps/scoped_map.h"
#include "executor/plan/steps/step_builder.h"

namespace tenon {

// Flags are those of StepGraph::flags.
class Liveness {
 public:
  Liveness(const Graph& nodes, StepBuilder& steps) : nodes_(nodes), steps_(steps) {}

  // The flag of node n: it lives if all inputs of n, data and control, are alive.
  int32_t OfNode(NodeId n);
  // A flag that lives if `a` and `b` both live. The step that sets it belongs to node n.
  int32_t Both(NodeId n, int32_t a, int32_t b);
  // When a Merge of these lives, as far as that is known: with one of them that lives whenever any
  // other does, or with the parent of a family that it has all members of. -1: it needs a flag of
  // its own, below the one that all have in common.
  int32_t OfMerge(absl::Span<const int32_t> alive) const;

  Chooser ChosenBy(int32_t choice, int32_t storage) const;
  // The output that a Switch on this value takes whenever it runs, where a Switch on the same value
  // has decided that already; -1: none has.
  int32_t TakenOutput(Chooser chosen_by, int32_t count, int32_t alive) const;
  // The flags of the outputs of a Switch: the first of them. One step serves all Switches that are
  // chosen by the same value.
  int32_t OfSwitch(NodeId n, const StepInput& choice, Chooser chosen_by, int32_t count);

  // What is made from here on is not there behind a loop that begins here.
  struct Mark {
    size_t both, families;
  };
  Mark Now() const { return {both_.size(), families_.size()}; }
  void ForgetSince(Mark mark);

 private:
  const Graph& nodes_;
  StepBuilder& steps_;
  ScopedMap<std::pair<int32_t, int32_t>, int32_t> both_;
  // By what chooses, the flag of the node, how many outputs there are.
  ScopedMap<std::tuple<Chooser, int32_t, int32_t>, int32_t> families_;
};

}  // namespace tenon
