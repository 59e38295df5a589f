// The steps of nodes with CPU kernels. A kernel is prepared now if its shapes and values are known,
// else in the run.
#pragma once

#include <optional>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/container/inlined_vector.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "executor/plan/base/plan_input.h"
#include "executor/plan/steps/constant_folder.h"
#include "executor/plan/steps/device_copies.h"
#include "executor/plan/steps/operands.h"
#include "executor/plan/steps/preparations.h"
#include "executor/plan/steps/step_builder.h"
#include "plugin/kernels/kernel.h"

namespace tenon {

class CpuSteps {
 public:
  CpuSteps(const PlanInput& input, StepBuilder& steps, DeviceCopies& copies, Operands& operands);

  // A kernel that calls a run function on planned memory becomes one step. A node that only renames
  // a value, or whose value is known, becomes none. Any other becomes a step that works on tensors.
  absl::Status Add(NodeId n, const CpuKernelSpec& spec);

 private:
  using Inputs = absl::Span<const int32_t>;  // values
  using StorageList = absl::InlinedVector<int32_t, 4>;
  // Of a node that only renames what is in a device's memory, or tells its shape. False: it is a
  // node of another kind.
  absl::StatusOr<bool> AddInDeviceMemory(NodeId n, const CpuKernelSpec& spec);
  std::optional<std::vector<Prepare::Input>> KnownOnDevice(NodeId n, const CpuKernelSpec& spec,
                                                           Inputs inputs);
  absl::Status AddPrepared(NodeId n, const CpuKernelSpec& spec, const Prepare& p, Inputs inputs);
  absl::Status NameOutputs(NodeId n, const Prepare& p, Inputs inputs);
  absl::Status AddPlannedStep(NodeId n, const Prepare& p, Inputs inputs);
  absl::StatusOr<StorageList> Reads(const Prepare& p, Inputs inputs);
  // Outputs become tensors of the run. Without `prepared` the step prepares itself when shapes and
  // values are there. `device`: in whose memory they are; null: the host's.
  absl::Status AddTensorStep(NodeId n, const CpuKernelSpec& spec, Inputs inputs,
                             const Prepare* prepared, Device* device = nullptr);

  const PlanInput& in_;
  StepBuilder& steps_;
  DeviceCopies& copies_;
  Operands& operands_;
  Preparations preparations_;
  ConstantFolder folder_;
  bool only_host_;                                // no node is on a device with memory of its own
  absl::flat_hash_set<const void*> kept_states_;  // of StepResources::states
};

}  // namespace tenon
