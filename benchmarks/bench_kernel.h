// One CPU kernel, prepared as a plan prepares it, that runs again and again on the same memory.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "graph/tensor/tensor.h"
#include "plugin/cpu/base/workers.h"
#include "plugin/kernels/kernel.h"

namespace tenon {

// Small numbers of both signs, no two neighbours alike; integers and bools from 0 on.
Tensor Filled(DataType type, const Shape& shape);

class BenchKernel {
 public:
  // `attrs` are the node's as wire values, those that decide types among them. Preparation sees the
  // values that the kernel asks for and, if `constants`, those of all inputs from the second on.
  static absl::StatusOr<std::unique_ptr<BenchKernel>> Make(
      const std::string& op, const std::map<std::string, std::string>& attrs,
      std::vector<Tensor> inputs, bool constants, int threads = 1);

  absl::Status Run() const { return run_(state_.get(), args_); }

  const std::vector<Tensor>& inputs() const { return inputs_; }
  const Tensor& output() const { return output_; }

 private:
  explicit BenchKernel(int threads) : workers_(threads) {}

  DenormalGuard flush_;  // as threads that run plans have it
  Workers workers_;
  std::vector<Tensor> inputs_;
  Tensor output_, scratch_;
  std::vector<void*> in_;
  void* out_ = nullptr;
  std::shared_ptr<const void> state_;
  RunFn run_ = nullptr;
  StepArgs args_ = {};
};

}  // namespace tenon
