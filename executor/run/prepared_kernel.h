// A CPU kernel after its preparation, and a function that runs it on tensors without an arena:
// while planning, for constants, and for steps with shapes that are known only in the run.
#pragma once

#include <memory>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "plugin/device/device.h"
#include "plugin/kernels/kernel.h"

namespace tenon {

// Immutable once made; shared between threads.
struct PreparedKernel {
  std::vector<Prepare::PreparedOutput> outputs;
  bool aliases_planned = false;  // the plan gives outputs that alias an input their place already
  TypeVector output_types;
  size_t scratch_bytes = 0;
  RunFn run = nullptr;
  std::shared_ptr<const void> state;

  static PreparedKernel From(const Prepare& p);
};

// Prepares within memory. No run function is left where there is nothing to compute but loops would
// be long: all outputs are empty, and a dimension of 0 hides how large their shapes or those of
// empty inputs are. UNIMPLEMENTED for a kernel that would compute with elements that are resources
// or variants and is none of those that may.
absl::Status PrepareKernel(const CpuKernelSpec& spec, Prepare& p);

// The use of an input:
// kView: the kernel reads it while it runs.
// kKeep: the result may share it, so the tensor may outlive the run of the kernel.
// kTake: like kKeep, and the kernel does not read the input again.
enum class InputUse { kView, kKeep, kTake };
using InputFn = absl::FunctionRef<absl::StatusOr<Tensor>(int i, InputUse use)>;

// Runs the kernel and returns all outputs. They lie in host memory, but for values that the kernel
// passes on in the memory of `device`. `in`: the data pointers of the inputs; `input` returns an
// input as a tensor. RESOURCE_EXHAUSTED without memory for outputs or scratch. Errors do not name
// the node.
absl::StatusOr<std::vector<Tensor>> ComputeOutputs(const PreparedKernel& kernel, void* const* in,
                                                   InputFn input, Workers& workers,
                                                   Device* device = nullptr);

}  // namespace tenon
