// The operations that TensorFlow's fused ops (_FusedMatMul, _FusedConv2D, _FusedConv3D,
// _FusedDepthwiseConv2dNative) compute after the product or convolution.
#pragma once

#include <array>
#include <cstdint>
#include <dnnl.hpp>
#include <optional>
#include <string_view>

#include "absl/status/statusor.h"
#include "graph/tensor/dtype.h"
#include "graph/tensor/shape.h"

namespace tenon {
class Prepare;  // plugin/kernels/kernel.h
}

namespace tenon::cpu {

// kRelu, kRelu6, kElu, kLeakyRelu, kTanh and kSigmoid compute as TensorFlow's ops of these names
// do.
enum class Activation : uint8_t {
  kNone,  // x itself
  kRelu,
  kRelu6,
  kElu,
  kLeakyRelu,
  kTanh,
  kSigmoid,
  kGeluExact,        // x * Phi(x), by erf
  kGeluApproximate,  // an approximation of x * Phi(x), by tanh
  kSwish,            // x * sigmoid(x)
  kHardSwish,        // x * relu6(x + 3) / 6
  kMish,             // x * tanh(softplus(x))
};

// Returns the activation of this name in attribute fused_ops. nullopt if no activation has it.
std::optional<Activation> ActivationNamed(std::string_view name);

// The fused operations of a node, computed in this order: bias or batch normalisation, the addition
// of a tensor of the output's shape, the activation. An input number of -1 means: no such
// operation.
struct FusedOps {
  int bias = -1;        // input number of the bias, one value per output channel
  int batch_norm = -1;  // input number of the scale; offset, mean and variance follow
  int add = -1;         // input number of the summand
  Activation activation = Activation::kNone;
  float alpha = 0;    // LeakyRelu's slope
  float epsilon = 0;  // batch normalisation
  bool empty() const {
    return bias < 0 && batch_norm < 0 && add < 0 && activation == Activation::kNone;
  }
};

// Reads attributes fused_ops, leakyrelu_alpha and epsilon. The arguments of the fused operations
// begin at input `first_arg`. The result is empty if the op has no attribute fused_ops.
// UNIMPLEMENTED for a list that FusedOps cannot express, another order included. INVALID_ARGUMENT
// if the list needs more inputs than the node has, or one of the attributes is missing.
absl::StatusOr<FusedOps> ReadFusedOps(const Prepare& p, int first_arg);

// Checks the shapes of the fused operations' arguments. Dimension `channel` of the output's shape
// `output` is the number of channels. INVALID_ARGUMENT unless the arguments of bias and batch
// normalisation are vectors of one value per channel. UNIMPLEMENTED unless the summand has the
// shape `output`.
absl::Status CheckFusedShapes(const Prepare& p, const FusedOps& fused, const Shape& output,
                              int channel);

// Returns whether preparation knows the values of all four arguments of the batch normalisation,
// which `fused` must have.
bool BatchNormIsConstant(const Prepare& p, const FusedOps& fused);
// Writes the factors of batch normalisation in the form y = scale * x + shift, n values each, one
// per channel. `args` point to the values of the batch normalisation's scale, offset, mean and
// variance, `types` are their types: float, double, half or bfloat16. The second function takes the
// values that preparation knows: only if BatchNormIsConstant().
void ComputeAffine(const std::array<const void*, 4>& args, const std::array<DataType, 4>& types,
                   float epsilon, int64_t n, float* scale, float* shift);
void ComputeAffine(const Prepare& p, const FusedOps& fused, int64_t n, float* scale, float* shift);

// Appends the addition and the activation to `ops` and returns the result. The addition becomes a
// sum with the output's previous values: copy the summand to the output before the primitive runs.
// Bias and batch normalisation are not appended. oneDNN's Relu and Relu6 do not keep NaN. Only
// inside Guarded() (onednn.h).
dnnl::post_ops PostOps(const FusedOps& fused, dnnl::post_ops ops = dnnl::post_ops());

// Returns the activation of x. `alpha` is LeakyRelu's slope. NaN stays NaN.
double Activate(Activation activation, double alpha, double x);

}  // namespace tenon::cpu
