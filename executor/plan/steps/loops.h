// Loops: a step that runs the steps of its frame until the condition fails, and variables that it
// sets before the first pass and between two passes. What comes from outside is read as it is.
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

// Loop variables (by Merge) whose shape is not that of their first value in every pass.
using LooseVariables = absl::flat_hash_set<NodeId>;

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

  // Before all else.
  absl::Status Find();
  // Opens the loops that begin, closes those that end at this position of the schedule. Errors name
  // the node.
  absl::Status OpenAt(size_t position);
  absl::Status CloseAt(size_t position);
  bool IsVariable(NodeId merge) const { return variables_.nexts.contains(merge); }
  absl::Status AddExit(NodeId n);

  // Variables that were planned with a shape that they do not keep: what was added is void.
  const LooseVariables& newly_loose() const { return newly_loose_; }

 private:
  struct OpenLoop {
    int32_t loop;                                   // of the schedule
    int32_t index;                                  // of StepGraph::loops
    std::vector<std::pair<NodeId, int32_t>> exits;  // and the flag of what they read
    Liveness::Mark flags;
    size_t copies;
  };

  absl::Status Open(int32_t loop);
  absl::Status AddVariable(int32_t loop, NodeId merge, PlanLoop& opened);
  absl::Status AddPassCounter(NodeId merge, PlanLoop& opened);
  absl::StatusOr<int32_t> PassNumber(int32_t i);
  absl::Status Close();
  absl::Status FindEnd(const OpenLoop& open, PlanLoop& closing) const;
  absl::Status CheckEnd(const OpenLoop& open, const PlanLoop& closing) const;
  absl::StatusOr<int32_t> NextValue(const LoopVariable& variable, const PlanLoop& closing);
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
