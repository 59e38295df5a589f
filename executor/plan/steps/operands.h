// The values that a node reads, on the device where it reads them.
#pragma once

#include "absl/status/statusor.h"
#include "executor/plan/base/plan_input.h"
#include "executor/plan/steps/device_copies.h"
#include "executor/plan/steps/liveness.h"
#include "executor/plan/steps/step_builder.h"

namespace tenon {

class Operands {
 public:
  Operands(const PlanInput& input, StepBuilder& steps, Liveness& liveness, DeviceCopies& copies)
      : in_(input), steps_(steps), liveness_(liveness), copies_(copies) {}

  // Input i of node n on `device` (null: the host); the value of a variable, where the node does
  // not want the variable itself.
  absl::StatusOr<int32_t> Get(NodeId n, int i, Device* device);
  // The value of variable `id` at the time of the reader: each reader gets its own.
  absl::StatusOr<int32_t> ReadVariable(NodeId reader, int32_t id);

 private:
  const PlanInput& in_;
  StepBuilder& steps_;
  Liveness& liveness_;
  DeviceCopies& copies_;
};

}  // namespace tenon
