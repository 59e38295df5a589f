// The steps of nodes with kernels of plug-ins.
#pragma once

#include "absl/status/status.h"
#include "executor/plan/base/plan_input.h"
#include "executor/plan/steps/device_copies.h"
#include "executor/plan/steps/operands.h"
#include "executor/plan/steps/step_builder.h"

namespace tenon {

// The references must outlive this object. Not thread-safe.
class PluginSteps {
 public:
  PluginSteps(const PlanInput& input, StepBuilder& steps, DeviceCopies& copies, Operands& operands)
      : in_(input), steps_(steps), copies_(copies), operands_(operands) {}

  // Adds the step of node n, which the plug-in's kernel `def` serves on `device` (the host too),
  // with the copies of its inputs. node_alive[n], first_value[n] and the values of n's outputs must
  // be set. Creates the plug-in's kernel object, unless it exists already. Outputs are slots; a
  // step with an asynchronous kernel begins a call. Errors are those of KernelStore::Create and of
  // Operands::Get, and RESOURCE_EXHAUSTED without memory to align a constant. They are returned for
  // a node in a branch or a loop too. They do not name the node, but for an error of the plug-in's
  // create_func.
  absl::Status Add(NodeId n, const KernelDef& def, Device* device);

 private:
  // Sets the shapes of the outputs that the op's shape function knows, so that CPU steps behind the
  // device can be planned. Sets none if the function fails: the kernel says what is wrong.
  void InferShapes(NodeId n);
  // Fills `inputs` with the inputs where the kernel wants them, and `reads` with their storages
  // (-1: a constant).
  absl::Status Gather(NodeId n, Device* device, const MemoryTypes& memory,
                      std::vector<PluginStep::Input>& inputs, std::vector<int32_t>& reads);

  const PlanInput& in_;
  StepBuilder& steps_;
  DeviceCopies& copies_;
  Operands& operands_;
};

}  // namespace tenon
