// The values that a node reads, on the device where it reads them.
#pragma once

#include "absl/status/statusor.h"
#include "executor/plan/base/plan_input.h"
#include "executor/plan/steps/device_copies.h"
#include "executor/plan/steps/liveness.h"
#include "executor/plan/steps/step_builder.h"

namespace tenon {

// The references must outlive this object. Not thread-safe. Errors do not name the node.
class Operands {
 public:
  Operands(const PlanInput& input, StepBuilder& steps, Liveness& liveness, DeviceCopies& copies)
      : in_(input), steps_(steps), liveness_(liveness), copies_(copies) {}

  // The id of the value that node n reads as input i, on `device` (null: the host). Adds the steps
  // that bring it there. If the input is a reference variable and the node wants the variable's
  // value, adds a step that reads the variable. node_alive[n] must be set. INVALID_ARGUMENT if the
  // node wants a variable and gets a fed value; other errors are those of ReadVariable and of
  // DeviceCopies::OnDevice.
  absl::StatusOr<int32_t> Get(NodeId n, int i, Device* device);
  // The value that a reference variable has when `reader` runs; `id` is the variable's handle. Adds
  // a step for each call: an assignment may stand between two readers. The value lies in the memory
  // of the device on which the variable's node is placed, if that can hold the elements, else on
  // the host. node_alive[reader] must be set. Errors are those of StepBuilder::ReadStorage.
  absl::StatusOr<int32_t> ReadVariable(NodeId reader, int32_t id);

 private:
  const PlanInput& in_;
  StepBuilder& steps_;
  Liveness& liveness_;
  DeviceCopies& copies_;
};

}  // namespace tenon
