// The steps of nodes with CPU kernels. A kernel is prepared now if the shapes of its inputs and the
// values that it needs are known, or if it works on whole tensors; else in the run.
#pragma once

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

namespace tenon {

class Preparation;     // plugin/kernels/preparation.h
struct CpuKernelSpec;  // plugin/kernels/kernel_spec.h

// The references must outlive this object. Not thread-safe.
class CpuSteps {
 public:
  CpuSteps(const PlanInput& input, StepBuilder& steps, DeviceCopies& copies, Operands& operands);

  // Translates node n, which the kernel `spec` serves; node_alive[n] must be set. A prepared kernel
  // with a run function for planned memory becomes one step. A node whose preparation only renames
  // an input, or whose outputs are known now, becomes none. Any other node becomes a step that
  // works on tensors, as does one that would only rename an input of unknown shape. The steps that
  // bring inputs come on top.
  //
  // If the node always runs, returns the error of its preparation, or of its kernel when the node
  // is computed while planning; in a branch or a loop the error comes in the run that reaches the
  // node. Returned in any case: errors of Operands::Get, RESOURCE_EXHAUSTED without memory for a
  // constant or for a size that overflows, and INTERNAL if the kernel has prepared neither a run
  // function nor all outputs. Errors do not name the node.
  absl::Status Add(NodeId n, const CpuKernelSpec& spec);

 private:
  using Inputs = absl::Span<const int32_t>;  // values
  using StorageList = absl::InlinedVector<int32_t, 4>;
  // Translates a node that only renames a value in a device's memory, or tells the value's shape:
  // the value need not come to the host. Returns false, and changes nothing, for any other node and
  // where a shape or a needed value is not known.
  absl::StatusOr<bool> AddInDeviceMemory(NodeId n, const CpuKernelSpec& spec);
  // Adds what a prepared kernel needs: no step, a planned step or a step that works on tensors.
  absl::Status AddPrepared(NodeId n, const CpuKernelSpec& spec, const Preparation& p,
                           Inputs inputs);
  // For a kernel with nothing to compute: its outputs are known values, or inputs under another
  // shape, or empty.
  absl::Status NameOutputs(NodeId n, const Preparation& p, Inputs inputs);
  // Adds a step that calls the run function on pointers.
  absl::Status AddPlannedStep(NodeId n, const Preparation& p, Inputs inputs);
  // The storages of the inputs; -1 for an input that the kernel has packed and does not read again.
  absl::StatusOr<StorageList> Reads(const Preparation& p, Inputs inputs);
  const Shape* ShapeOfRead(NodeId n, int i, Inputs inputs) const;
  // Adds a step that works on tensors: each run makes the outputs. Without `prepared` the step
  // prepares its kernel in the run, when shapes and values are there. The tensors lie in the memory
  // of `device`, but for handles, which lie on the host. Null: the host. An output that a prepared
  // kernel renames gets the storage of its input.
  absl::Status AddTensorStep(NodeId n, const CpuKernelSpec& spec, Inputs inputs,
                             const Preparation* prepared, Device* device = nullptr);

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
