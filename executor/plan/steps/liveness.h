// Liveness flags for the nodes behind a Switch, with the steps that set the flags. All other nodes
// always live: they have flag FlagTree::kAlways, which no step sets.
#pragma once

#include <tuple>
#include <utility>

#include "absl/types/span.h"
#include "executor/plan/steps/scoped_map.h"
#include "executor/plan/steps/step_builder.h"

namespace tenon {

// Flags are those of StepGraph::flags; nodes are asked in the order of the schedule. The references
// must outlive this object. Not thread-safe.
class Liveness {
 public:
  Liveness(const Graph& nodes, StepBuilder& steps) : nodes_(nodes), steps_(steps) {}

  // The flag of node n, which lives if all inputs of n, data and control, are alive; control inputs
  // from nodes outside of the order do not count. Adds steps if the flag is a new one. The caller
  // stores it in node_alive.
  int32_t OfNode(NodeId n);
  // A flag that lives if `a` and `b` both live: one of them if it implies the other, else the flag
  // that an earlier call made for the two (see ForgetSince), else a new flag with a step of node n
  // that sets it.
  int32_t Both(NodeId n, int32_t a, int32_t b);
  // The flag of a Merge of inputs with the flags `alive` (at least one), if no step is needed to
  // set it. It is the parent of a family, if the list is all members of the family and no other
  // flag; else a flag of the list that all others imply. -1: the Merge needs a flag of its own,
  // below the flag that all imply.
  int32_t OfMerge(absl::Span<const int32_t> alive) const;

  // The identity of value `choice`, which lies in this storage, as what chooses an output.
  Chooser ChosenBy(int32_t choice, int32_t storage) const;
  // For a Switch with `count` outputs that runs while `alive` lives: the output that it takes
  // whenever it runs, if it lies behind one output of another Switch on the same value with as many
  // outputs. -1: not known.
  int32_t TakenOutput(Chooser chosen_by, int32_t count, int32_t alive) const;
  // The flags of the outputs of Switch n: the first of `count` consecutive flags. Switches on one
  // value with the same flag and number of outputs share their flags and the step that sets them
  // (see ForgetSince). node_alive[n] must be set.
  int32_t OfSwitch(NodeId n, const StepInput& choice, Chooser chosen_by, int32_t count);

  // Brackets a loop. A flag that a step of a loop sets is of no use behind the loop: ForgetSince
  // drops, as candidates for reuse, the flags that were made since Now returned `mark`.
  struct Mark {
    size_t both, families;
  };
  Mark Now() const { return {both_.size(), families_.size()}; }
  void ForgetSince(Mark mark);

 private:
  const Graph& nodes_;
  StepBuilder& steps_;
  ScopedMap<std::pair<int32_t, int32_t>, int32_t> both_;  // by the two flags, the smaller first
  // The first flag of each family, by chooser, flag of the Switch, and number of outputs.
  ScopedMap<std::tuple<Chooser, int32_t, int32_t>, int32_t> families_;
};

}  // namespace tenon
