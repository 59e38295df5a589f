// What follows the sums of a product with coded weights.
#pragma once

#include <cstdint>
#include <optional>

#include "plugin/cpu/linalg/products/activation_loop.h"
#include "plugin/cpu/linalg/products/fused_ops.h"
#include "plugin/kernels/run_fn.h"

namespace tenon::cpu {

// The bias, the addition and the activation that an op fuses. Immutable; thread-safe.
class Following {
 public:
  // Without `adds_bias` the bias was added before. Batch normalization is not built here.
  explicit Following(const FusedOps& fused, bool adds_bias = true)
      : bias_(adds_bias ? fused.bias : -1), add_(fused.add) {
    if (fused.activation != Activation::kNone) activation_.emplace(fused.activation, fused.alpha);
  }
  // Of y[0, count), which begins at column j of the matrix and at element `at` of the output. With
  // a bias that is to be added y lies in one row.
  void Run(const StepArgs& args, float* y, int64_t count, int64_t j, int64_t at) const {
    if (bias_ >= 0) Add(static_cast<const float*>(args.in[bias_]) + j, count, y);
    if (add_ >= 0) Add(static_cast<const float*>(args.in[add_]) + at, count, y);
    if (activation_) activation_->Run(y, count);
  }

 private:
  static void Add(const float* x, int64_t count, float* y) {
    for (int64_t i = 0; i < count; ++i) y[i] += x[i];
  }

  int bias_, add_;
  std::optional<ActivationLoop> activation_;
};

}  // namespace tenon::cpu
