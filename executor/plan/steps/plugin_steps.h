// The steps of nodes with kernels of plug-ins.
#pragma once

#include "absl/status/status.h"
#include "executor/plan/base/plan_input.h"
#include "executor/plan/steps/device_copies.h"
#include "executor/plan/steps/operands.h"
#include "executor/plan/steps/step_builder.h"

namespace tenon {

class PluginSteps {
 public:
  PluginSteps(const PlanInput& input, StepBuilder& steps, DeviceCopies& copies, Operands& operands)
      : in_(input), steps_(steps), copies_(copies), operands_(operands) {}

  absl::Status Add(NodeId n, const KernelDef& def, Device* device);

 private:
  // What the op's shape function knows: lets CPU steps behind the device be planned.
  void InferShapes(NodeId n);
  absl::Status Gather(NodeId n, Device* device, const MemoryTypes& memory,
                      std::vector<PluginStep::Input>& inputs, std::vector<int32_t>& reads);

  const PlanInput& in_;
  StepBuilder& steps_;
  DeviceCopies& copies_;
  Operands& operands_;
};

}  // namespace tenon
