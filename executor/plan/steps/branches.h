// The steps of Switch and Merge nodes, which decide the live branch of a conditional.
#pragma once

#include "absl/status/status.h"
#include "executor/plan/base/plan_input.h"
#include "executor/plan/steps/liveness.h"
#include "executor/plan/steps/operands.h"
#include "executor/plan/steps/step_builder.h"

namespace tenon {

// The references must outlive this object. Not thread-safe. Errors do not name the node. Flags and
// values are those of the StepGraph; node_alive[n] of a Switch must be set.
class Branches {
 public:
  Branches(const PlanInput& input, StepBuilder& steps, Liveness& liveness, Operands& operands)
      : in_(input), steps_(steps), liveness_(liveness), operands_(operands) {}

  // Makes every output of Switch n the Switch's data input, without a copy; of a reference
  // variable, the variable's value, unless the Switch hands references on. The output that is
  // chosen lives. Adds a step that sets flags, unless an earlier Switch on the same value has
  // decided already. If the choice is known to be no scalar: INVALID_ARGUMENT if the node always
  // runs, else a step that fails. Other errors are those of Operands::Get and
  // StepBuilder::ReadStorage.
  absl::Status AddSwitch(NodeId n);
  // Adds the step of Merge n, which is no variable of a loop: output 0 becomes the value of the
  // first live input, output 1 its index. Both lie on the host. Sets node_alive[n]. The shape of
  // output 0 is known if all inputs have one known shape. INVALID_ARGUMENT without inputs; other
  // errors are those of Operands::Get, StepBuilder::ReadStorage and StepBuilder::NewPlace.
  absl::Status AddMerge(NodeId n);

 private:
  const PlanInput& in_;
  StepBuilder& steps_;
  Liveness& liveness_;
  Operands& operands_;
};

}  // namespace tenon
