// One CPU kernel, prepared as a plan prepares it, that runs again and again on the same memory.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "graph/tensor/tensor.h"
#include "plugin/cpu/base/workers.h"
#include "plugin/kernels/run_fn.h"

namespace tenon {

// Returns a host tensor of small numbers that repeat after 13 elements: for kFloat from -0.7 to
// 0.8, for kInt32 from 0 to 12, for kBool both values, for kHalf from 1 to 1.012, for kBfloat16
// from 1 to 1.094. Of any other type all elements are 0, strings are empty. Ends the process when
// memory is short.
Tensor Filled(DataType type, const Shape& shape);

class BenchKernel {
 public:
  // `attrs` maps names of the node's attributes to the bytes of an AttrValue, and must hold the
  // attributes that decide types. Preparation sees the shapes of all inputs, the values of the
  // inputs of which the kernel asks for values and, if `constants`, the values of all inputs but
  // the first. `threads` counts the calling thread. The kernel must have no dynamic outputs and
  // must not work on whole tensors: its runs get no RunState (plugin/kernels/run_fn.h).
  //
  // The thread that calls Make flushes denormals until the object is destroyed. Call Run and
  // destroy the object on that thread. Destroy several objects in the reverse of the order in which
  // they were made.
  //
  // Takes the op's first CPU kernel, whatever the types: `attrs` must suit it. NOT_FOUND, with the
  // op's name alone, for an op that is not registered or has no CPU kernel.
  // INVALID_ARGUMENT if preparation leaves nothing to run. Else the errors of type resolution, of
  // preparation and of an allocation.
  static absl::StatusOr<std::unique_ptr<BenchKernel>> Make(
      const std::string& op, const std::map<std::string, std::string>& attrs,
      std::vector<Tensor> inputs, bool constants, int threads = 1);

  // Computes the outputs anew, in the same memory. One thread at a time.
  absl::Status Run() const { return run_(state_.get(), args_); }

  const std::vector<Tensor>& inputs() const { return inputs_; }
  const Tensor& output() const { return outputs_[0]; }  // before the first Run: what Filled gives

 private:
  explicit BenchKernel(int threads) : workers_(threads) {}

  DenormalGuard flush_;  // as threads that run plans have it
  Workers workers_;
  std::vector<Tensor> inputs_, outputs_;
  Tensor scratch_;
  std::vector<void*> in_, out_;
  std::shared_ptr<const void> state_;
  RunFn run_ = nullptr;
  StepArgs args_ = {};
};

}  // namespace tenon
