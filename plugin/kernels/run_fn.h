// What a step calls when a plan runs: a run function, its arguments, and services beyond its
// pointers. plugin/kernels/kernel.h says how a kernel prepares such a function.
#pragma once

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "graph/tensor/shape.h"
#include "graph/tensor/tensor.h"

namespace tenon {

class Workers;  // plugin/cpu/base/workers.h

// The services for a run function beyond its pointers: outputs with a shape that depends on the
// data, and whole tensors. Only functions with a dynamic output and those of kernels that work on
// whole tensors may call it. Where the plan owns the memory, AllocateOutput and TakeInput give
// INTERNAL, SetOutput does nothing, and Input returns an uninitialized tensor.
class RunState {
 public:
  virtual ~RunState() = default;
  // Allocates output i in host memory with this shape; returns its memory, aligned to
  // kTensorAlignment, strings initialized and empty. RESOURCE_EXHAUSTED when memory is short.
  virtual absl::StatusOr<void*> AllocateOutput(int i, const Shape& shape) = 0;
  // Makes this tensor output i. It must have the output's type. Both functions may replace an
  // output that the call made before.
  virtual void SetOutput(int i, Tensor value) = 0;
  // Input i as a tensor. The tensor must not outlive the call of the run function, since its memory
  // may belong to the plan.
  virtual Tensor Input(int i) = 0;
  // Input i as a tensor that the kernel may keep. The last reader of a value gets the value itself.
  // Its buffer may be unique then, and only then may the kernel write to it: variables, containers
  // or other tensors may share the buffer. Any other reader gets a tensor that shares the value, or
  // a copy. A kernel calls this at most once for each input, and reads the input in no other way
  // afterwards. RESOURCE_EXHAUSTED when a copy is needed and memory is short.
  virtual absl::StatusOr<Tensor> TakeInput(int i) = 0;
};

// The arguments of one call of a run function.
struct StepArgs {
  // The data of each input; for a string input an array of TF_TString.
  void* const* in;
  // The data of each output with a static shape, strings initialized and empty; null for a dynamic
  // output.
  void* const* out;
  // As many bytes as prepare asked for, aligned to kTensorAlignment.
  void* scratch;
  // Never null. One worker means: compute in the calling thread.
  Workers* workers;
  // Not null if prepare declared dynamic outputs, or the kernel works on whole tensors.
  RunState* run_state;
};

// Returns OK or an error without the node's name (the executor adds node and op).
using RunFn = absl::Status (*)(const void* state, const StepArgs& args);

}  // namespace tenon
