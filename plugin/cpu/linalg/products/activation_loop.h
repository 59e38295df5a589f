// Activations of floats in place, without oneDNN: for products so small that a primitive's call
// would cost more than they do.
#pragma once

#include <cstdint>

#include "plugin/cpu/elementwise/loops/element_op.h"
#include "plugin/cpu/linalg/products/fused_ops.h"

namespace tenon::cpu {

class ActivationLoop {
 public:
  // `alpha` is LeakyRelu's.
  ActivationLoop(Activation activation, float alpha);

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
