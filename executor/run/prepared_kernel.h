// A CPU kernel after its preparation, and a function that runs it on tensors without an arena: for
// constants while planning, for passes that fold constants, and for steps that make their tensors
// in the run (KernelStep).
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "plugin/device/device.h"
#include "plugin/kernels/preparation.h"
#include "plugin/kernels/run_fn.h"

namespace tenon {

struct CpuKernelSpec;  // plugin/kernels/kernel_spec.h
class SessionState;    // plugin/kernels/session_state.h

// A node and its CPU kernel. Nothing is owned.
struct CpuNode {
  std::string_view name;
  const OpDef* op;
  const AttrSet* attrs;
  const NodeTypes* types;
  const CpuKernelSpec* spec;
};

// The outcome of a preparation, without the node that it was made for. Immutable once made; shared
// between threads. Shares the ownership of `state`.
struct PreparedKernel {
  std::vector<Preparation::PreparedOutput> outputs;
  // The plan has given each output that renames an input the place of that input. ComputeOutputs
  // leaves these outputs uninitialized.
  bool aliases_planned = false;
  // Whether there is a `run` that needs nothing but memory for its outputs, which have the prepared
  // shapes. Says nothing of a kernel of whole tensors.
  bool is_plain = false;
  TypeVector output_types;   // without the mark of references
  size_t scratch_bytes = 0;  // that `run` needs
  RunFn run = nullptr;       // null: nothing to compute
  std::shared_ptr<const void> state;

  static PreparedKernel From(const Preparation& p);
};

// Prepares the node's kernel for these inputs, one for each input of the node, and checks what the
// kernel has made. The preparation refers to the node's op and types. Errors do not name the node:
// * those of the prepare function;
// * RESOURCE_EXHAUSTED if an allocation throws;
// * UNIMPLEMENTED if the kernel would compute with elements that are resources or variants, and the
//   spec does not allow that (copies_objects, whole_tensors).
absl::StatusOr<std::shared_ptr<const Preparation>> PrepareKernel(
    const CpuNode& node, std::vector<Preparation::Input> inputs, SessionState& session,
    Workers& workers);

// The use of an input:
// kView: the kernel reads it while it runs.
// kKeep: the result may share it, so the tensor may outlive the run of the kernel.
// kTake: like kKeep, and the kernel does not read the input again.
enum class InputUse { kView, kKeep, kTake };
using InputFn = absl::FunctionRef<absl::StatusOr<Tensor>(int i, InputUse use)>;

// Runs the kernel on the calling thread, with `workers` for its loops, and returns all outputs in
// order. The outputs lie in host memory, but for tensors that the kernel passes on in the memory of
// `device`. An output that aliases an input shares the input's buffer; with aliases_planned, the
// output's tensor is uninitialized.
//
// `in`: the data pointers of the inputs, where built-in kernels can read them. `input` returns an
// input as a tensor; it must not fail for InputUse::kView. Errors do not name the node: those of
// the kernel and of `input`; RESOURCE_EXHAUSTED without memory for outputs or scratch; INTERNAL if
// the kernel leaves an output without a value. An allocation of the kernel that throws is for the
// caller to catch (WithinMemory).
absl::StatusOr<std::vector<Tensor>> ComputeOutputs(const PreparedKernel& kernel, void* const* in,
                                                   InputFn input, Workers& workers,
                                                   Device* device = nullptr);
// The same into `outputs`, one for each output. A tensor that is initialized already, which must
// have the type and shape of its output, lends its memory: the kernel writes there unless it has
// prepared that output as a value, an alias or dynamic. For an output that is dynamic or a planned
// alias the tensor must not be initialized: it would pass for the result. After an error some
// outputs may be set.
absl::Status ComputeInto(absl::Span<Tensor> outputs, const PreparedKernel& kernel, void* const* in,
                         InputFn input, Workers& workers, Device* device = nullptr);

}  // namespace tenon
