// Activations of floats in place, by element loops; those of the form x * g(x) by chunks, whose
// gate g stays in the first cache.
#include "plugin/cpu/linalg/products/activation_loop.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace tenon::cpu {
namespace {

constexpr int64_t kChunk = 1024;  // elements whose gate is computed at a time

void RunLoop(ElementLoop loop, const float* x, float* y, int64_t n, float param = 0) {
  const void* const in[] = {x};
  loop(in, y, n, param);
}

// y[i] = f(x[i]), some at a time, which the compiler turns into vectors; y may be x.
template <typename F>
void Map(const float* x, float* y, int64_t n, F f) {
  constexpr int kLanes = 16;
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    float values[kLanes];
    // A copy of 16 results: x and y may overlap, which would stop the compiler from using vectors.
    for (int k = 0; k < kLanes; ++k) values[k] = f(x[i + k]);
    for (int k = 0; k < kLanes; ++k) y[i + k] = values[k];
  }
  for (; i < n; ++i) y[i] = f(x[i]);
}

ElementOp FirstOp(Activation activation) {
  switch (activation) {
    case Activation::kRelu:
      return ElementOp::kRelu;
    case Activation::kRelu6:
    case Activation::kHardSwish:
      return ElementOp::kRelu6;
    case Activation::kElu:
      return ElementOp::kElu;
    case Activation::kLeakyRelu:
      return ElementOp::kLeakyRelu;
    case Activation::kSigmoid:
    case Activation::kSwish:
    case Activation::kGeluApproximate:
      return ElementOp::kSigmoid;
    case Activation::kGeluExact:
      return ElementOp::kErf;
    case Activation::kMish:
      return ElementOp::kSoftplus;
    case Activation::kNone:
    case Activation::kTanh:
      break;
  }
  return ElementOp::kTanh;
}

}  // namespace

ActivationLoop::ActivationLoop(Activation activation, float alpha)
    : activation_(activation), alpha_(alpha) {
  if (activation == Activation::kNone) return;
  loop_ = FindElementLoop(FirstOp(activation), DataType::kFloat);
  // Mish is x * tanh(softplus(x)): two loops make its gate.
  then_ = FindElementLoop(ElementOp::kTanh, DataType::kFloat);
  multiply_ = FindElementLoop(ElementOp::kMul, DataType::kFloat);
}

void ActivationLoop::Run(float* x, int64_t n) const {
  switch (activation_) {
    case Activation::kNone:
      return;
    case Activation::kRelu:
    case Activation::kRelu6:
    case Activation::kElu:
    case Activation::kLeakyRelu:
    case Activation::kTanh:
    case Activation::kSigmoid:
      return RunLoop(loop_, x, x, n, alpha_);
    case Activation::kGeluExact:
    case Activation::kGeluApproximate:
    case Activation::kSwish:
    case Activation::kHardSwish:
    case Activation::kMish:
      for (int64_t at = 0; at < n; at += kChunk) RunGated(x + at, std::min(kChunk, n - at));
  }
}

// x times a function of x.
void ActivationLoop::RunGated(float* x, int64_t n) const {
  float gate[kChunk];
  const float* of = gate;
  switch (activation_) {
    case Activation::kGeluExact:
      Map(x, gate, n, [](float v) { return v * (std::numbers::sqrt2_v<float> / 2); });
      break;
    case Activation::kGeluApproximate: {
      // Half of 1 and a hyperbolic tangent is the sigmoid of twice as much.
      const float scale = 2 * std::sqrt(2 * std::numbers::inv_pi_v<float>);
      Map(x, gate, n, [scale](float v) { return scale * (v + 0.044715F * v * v * v); });
      break;
    }
    case Activation::kHardSwish:
      Map(x, gate, n, [](float v) { return v + 3; });
      break;
    default:
      of = x;
  }
  // Softplus is asked for its limit, above which it is the identity.
  RunLoop(loop_, of, gate, n, std::numeric_limits<float>::infinity());
  if (activation_ == Activation::kMish) {
    RunLoop(then_, gate, gate, n);
  } else if (activation_ == Activation::kGeluExact) {
    Map(gate, gate, n, [](float v) { return 0.5F * (1 + v); });
  } else if (activation_ == Activation::kHardSwish) {
    Map(gate, gate, n, [](float v) { return v / 6; });
  }
  const void* const in[] = {x, gate};
  multiply_(in, x, n, 0);
}

}  // namespace tenon::cpu
