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

  // Adds the step of node n, and the copies of n's inputs to where the kernel wants them. Behind
  // the step of a kernel that is not asynchronous, begins the copies to the host of outputs that
  // the host reads (DeviceCopies::BeginToHost). `def` is the kernel of a plug-in that serves n on
  // `device`, which may be the host. The caller has set, in the step graph, node_alive[n],
  // first_value[n] and the values of n's outputs. If there is no kernel object for n yet, the
  // plug-in's create_func is called. Outputs are slots: the kernel allocates them in the run. An
  // asynchronous kernel makes the step begin a call.
  // Errors: those of KernelStore::Create, Operands::Get, DeviceCopies::QueueNextFeed and
  // BeginToHost, and RESOURCE_EXHAUSTED if there is no memory to align a constant. An error of
  // create_func names the node; the others do not. An error ends the planning; some of the steps
  // may have been added. A node in a branch or a loop, which may never run, is no exception.
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
