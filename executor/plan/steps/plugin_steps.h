// The steps of nodes with kernels of plug-ins.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "executor/plan/base/plan_input.h"
#include "executor/plan/steps/control_waits.h"
#include "executor/plan/steps/device_copies.h"
#include "executor/plan/steps/operands.h"
#include "executor/plan/steps/step_builder.h"

namespace tenon {

// The references must outlive this object. Not thread-safe.
class PluginSteps {
 public:
  // `streams`: the result of ChooseComputeStreams. What lies in a branch or a loop is on the first
  // compute stream all the same.
  PluginSteps(const PlanInput& input, const std::vector<uint8_t>& streams, StepBuilder& steps,
              DeviceCopies& copies, Operands& operands)
      : in_(input),
        streams_(streams),
        steps_(steps),
        copies_(copies),
        operands_(operands),
        control_waits_(input.graph, copies.streams()) {}

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
  // To be called behind each node, whatever kernel serves it. `no_step`: it has no step.
  void EndNode(NodeId n, bool no_step) {
    if (!streams_.empty()) control_waits_.EndNode(n, no_step);
  }

 private:
  // Sets the shapes of the outputs that the op's shape function knows, so that CPU steps behind the
  // device can be planned. Sets none if the function fails: the kernel says what is wrong.
  void InferShapes(NodeId n);
  // The compute stream of n, whose flag is known.
  int StreamOf(NodeId n) const;
  // Whether n runs once in each run.
  bool MayHaveStream(NodeId n) const;
  // Fills `inputs` with the inputs where the kernel on `stream` wants them, `reads` with their
  // storages (-1: a constant), and `waits` with what the stream must wait for.
  absl::Status Gather(NodeId n, const DeviceStream& stream, const MemoryTypes& memory,
                      std::vector<PluginStep::Input>& inputs, std::vector<int32_t>& reads,
                      std::vector<StreamWait>& waits);

  const PlanInput& in_;
  const std::vector<uint8_t>& streams_;
  StepBuilder& steps_;
  DeviceCopies& copies_;
  Operands& operands_;
  ControlWaits control_waits_;
};

}  // namespace tenon
