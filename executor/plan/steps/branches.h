// The steps of Switch and Merge nodes, which decide the live branch of a conditional.
#pragma once

#include "absl/status/status.h"
#include "executor/plan/base/plan_input.h"
#include "executor/plan/steps/liveness.h"
#include "executor/plan/steps/operands.h"
#include "executor/plan/steps/step_builder.h"

namespace tenon {

class Branches {
 public:
  Branches(const PlanInput& input, StepBuilder& steps, Liveness& liveness, Operands& operands)
      : in_(input), steps_(steps), liveness_(liveness), operands_(operands) {}

  // Its outputs are its data, each alive if it is the one that is chosen.
  absl::Status AddSwitch(NodeId n);
  // A Merge that is no variable of a loop: the first of its inputs that is alive, and its index.
  absl::Status AddMerge(NodeId n);

 private:
  const PlanInput& in_;
  StepBuilder& steps_;
  Liveness& liveness_;
  Operands& operands_;
};

}  // namespace tenon
