// Loops: a step that runs the steps of the loop's frame, pass after pass, until the condition
// fails; and variables, which that step sets before the first pass and between two passes.
// Variables lie in host memory. Values from outside of the loop are read where they lie.
#pragma once

#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "executor/plan/base/plan_input.h"
#include "executor/plan/steps/device_copies.h"
#include "executor/plan/steps/liveness.h"
#include "executor/plan/steps/loop_variables.h"
#include "executor/plan/steps/operands.h"
#include "executor/plan/steps/step_builder.h"

namespace tenon {

// Merges that are planned without a shape if they are loop variables: the shape of their first
// value need not hold in every pass.
using LooseVariables = absl::flat_hash_set<NodeId>;

// Opens and closes the loops of the schedule while nodes are translated in its order. The
// references must outlive this object. Not thread-safe.
class Loops {
 public:
  Loops(const PlanInput& input, const LooseVariables& loose, StepBuilder& steps, Liveness& liveness,
        DeviceCopies& copies, Operands& operands)
      : in_(input),
        loose_(loose),
        steps_(steps),
        liveness_(liveness),
        copies_(copies),
        operands_(operands) {}

  // Finds the loop variables. To be called once, before all other functions. Errors are those of
  // FindLoopVariables.
  absl::Status Find();
  // Opens the loops that begin at this position of the schedule: adds their steps and variables. To
  // be called for each position, before the node there is translated. Errors name an Enter of the
  // loop, and the Merge if they are of a variable.
  absl::Status OpenAt(size_t position);
  // Closes the loops whose last node is the one before this position, which must be translated. To
  // be called for each position, before OpenAt of the position, and at the end for the position
  // behind the last. UNIMPLEMENTED for a loop that does not end for all its variables at once: what
  // goes back must lie on the true side of one Switch in every pass, what leaves on the false side.
  // Errors name an Enter of the loop.
  absl::Status CloseAt(size_t position);
  // Whether the Merge is a variable of a loop, which needs no step of its own: the loop's step sets
  // it, or it shares its first value if it never changes.
  bool IsVariable(NodeId merge) const { return variables_.nexts.contains(merge); }
  // Makes the output of the Exit node n the value that it reads, alive behind the loop. The loop of
  // n must be the innermost open one. Errors do not name the node.
  absl::Status AddExit(NodeId n);

  // The variables that were planned with the shape of their first value and turned out to have
  // another or an unknown shape in a later pass. If there are any, all steps that were added are
  // void, and so is an error that came after. The caller then plans anew, with these variables
  // added to the former `loose`.
  const LooseVariables& newly_loose() const { return newly_loose_; }

 private:
  struct OpenLoop {
    int32_t loop;                                   // of the schedule
    int32_t index;                                  // of StepGraph::loops
    std::vector<std::pair<NodeId, int32_t>> exits;  // each with the flag of the value that it reads
    Liveness::Mark flags;                           // of the time when the loop was opened
    size_t copies;                                  // of the time when the loop was opened
  };

  absl::Status Open(int32_t loop);
  absl::Status AddVariable(int32_t loop, NodeId merge, PlanLoop& opened);
  absl::Status AddPassCounter(NodeId merge, PlanLoop& opened);
  // A value that is the constant scalar i, 0 or 1.
  absl::StatusOr<int32_t> PassNumber(int32_t i);
  absl::Status Close();
  // Sets closing.again to the flag of all values that go back to variables.
  absl::Status FindEnd(const OpenLoop& open, PlanLoop& closing) const;
  absl::Status CheckEnd(const OpenLoop& open, const PlanLoop& closing) const;
  absl::StatusOr<int32_t> NextValue(const LoopVariable& variable, const PlanLoop& closing);
  // A copy of a value in planned memory of its own.
  int32_t CopyAside(NodeId next, int32_t id, uint64_t bytes, int32_t alive);

  const PlanInput& in_;
  const LooseVariables& loose_;
  StepBuilder& steps_;
  Liveness& liveness_;
  DeviceCopies& copies_;
  Operands& operands_;
  LoopVariables variables_;
  LooseVariables newly_loose_;
  std::vector<OpenLoop> open_;  // the innermost last
};

}  // namespace tenon
