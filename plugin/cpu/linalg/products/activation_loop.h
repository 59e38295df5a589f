// Activations of floats in place, without oneDNN.
#pragma once

#include <cstdint>

#include "plugin/cpu/elementwise/loops/element_op.h"
#include "plugin/cpu/linalg/products/fused_ops.h"

namespace tenon::cpu {

// One activation. Immutable once made; several threads share it.
class ActivationLoop {
 public:
  // `alpha` is LeakyRelu's slope; other activations ignore it. kNone leaves elements as they are.
  ActivationLoop(Activation activation, float alpha);

  // Applies the activation to x[0] to x[n - 1], in the calling thread. Unlike oneDNN's, Relu and
  // Relu6 keep NaN.
  void Run(float* x, int64_t n) const;

 private:
  void RunGated(float* x, int64_t n) const;

  Activation activation_;
  float alpha_;
  ElementLoop loop_ = nullptr;  // the whole activation, or the first of its gate
  ElementLoop then_ = nullptr;  // the gate's second
  ElementLoop multiply_ = nullptr;
};

}  // namespace tenon::cpu
