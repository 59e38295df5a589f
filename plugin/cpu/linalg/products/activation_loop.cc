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
      return ElementOp::kSigmoid;
    case Activation::kGeluExact:
      return ElementOp::kErf;
    case Activation::kMish:
      return ElementOp::kSoftplus;
    case Activation::kNone:
    case Activation::kTanh:
    case Activation::kGeluApproximate:
      break;
  }
  return ElementOp::kTanh;
}

}  // namespace

ActivationLoop::ActivationLoop(Activation activation, float alpha)
    : activation_(activation), alpha_(alpha) {
  if (activation == Activation::kNone) return;
  loop_ = FindElementLoop(FirstOp(activation), DataType::kFloat);
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
      for (int64_t i = 0; i < n; ++i) gate[i] = x[i] * (std::numbers::sqrt2_v<float> / 2);
      break;
    case Activation::kGeluApproximate: {
      const float scale = std::sqrt(2 * std::numbers::inv_pi_v<float>);
      for (int64_t i = 0; i < n; ++i) gate[i] = scale * (x[i] + 0.044715F * x[i] * x[i] * x[i]);
      break;
    }
    case Activation::kHardSwish:
      for (int64_t i = 0; i < n; ++i) gate[i] = x[i] + 3;
      break;
    default:
      of = x;
  }
  // Softplus is asked for its limit, above which it is the identity.
  RunLoop(loop_, of, gate, n, std::numeric_limits<float>::infinity());
  if (activation_ == Activation::kMish) RunLoop(then_, gate, gate, n);
  const bool gelu =
      activation_ == Activation::kGeluExact || activation_ == Activation::kGeluApproximate;
  if (gelu) {
    for (int64_t i = 0; i < n; ++i) gate[i] = 0.5F * (1 + gate[i]);
  } else if (activation_ == Activation::kHardSwish) {
    for (int64_t i = 0; i < n; ++i) gate[i] /= 6;
  }
  const void* const in[] = {x, gate};
  multiply_(in, x, n, 0);
}

}  // namespace tenon::cpu
