// A CPU kernel after its preparation, and the way to run it on tensors where no arena is planned:
// at plan time, for constants, and for steps whose shapes only the run tells.
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
  bool aliases_planned = false;  // nobody needs the outputs that are inputs under another shape
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

// What an input is wanted for: to be read while the kernel runs, to be kept, or to be kept by a
// kernel that does not read it again.
enum class InputUse { kView, kKeep, kTake };
using InputFn = absl::FunctionRef<absl::StatusOr<Tensor>(int i, InputUse use)>;

// All outputs, in host memory but for those that a kernel hands on in a device's. `in` are the
// inputs' data, `input` gives them as tensors. Errors do not name the node.
absl::StatusOr<std::vector<Tensor>> ComputeOutputs(const PreparedKernel& kernel, void* const* in,
                                                   InputFn input, Workers& workers,
                                                   Device* device = nullptr);

}  // namespace tenon
