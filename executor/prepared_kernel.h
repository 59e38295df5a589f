// A CPU kernel after its preparation, and the way to run it on tensors where no arena is planned:
// at plan time, for constants, and for steps whose shapes only the run tells.
#pragma once

#include <memory>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "plugin/kernel.h"

namespace tenon {

// Immutable once made; shared between threads.
struct PreparedKernel {
  std::vector<Prepare::PreparedOutput> outputs;
  TypeVector output_types;
  size_t scratch_bytes = 0;
  RunFn run = nullptr;
  std::shared_ptr<const void> state;

  static PreparedKernel From(const Prepare& p);
};

// Prepares within memory. No run function is left where there is nothing to compute but loops would
// be long: all outputs are empty, and a dimension of 0 hides how large their shapes or those of
// empty inputs are.
absl::Status PrepareKernel(const CpuKernelSpec& spec, Prepare& p);

// All outputs, in host memory. `in` are the inputs' data; `input` gives input i as a tensor that
// may be kept (for outputs that are an input under another shape). Errors do not name the node.
absl::StatusOr<std::vector<Tensor>> ComputeOutputs(
    const PreparedKernel& kernel, void* const* in,
    absl::FunctionRef<absl::StatusOr<Tensor>(int)> input, Workers& workers);

}  // namespace tenon
