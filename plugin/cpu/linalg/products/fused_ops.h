// What TensorFlow's fused ops (_FusedMatMul, _FusedConv2D, _FusedDepthwiseConv2dNative) compute
// after the product.
#pragma once

#include <array>
#include <dnnl.hpp>
#include <optional>
#include <string_view>

#include "absl/status/statusor.h"
#include "plugin/kernels/kernel.h"

namespace tenon::cpu {

enum class Activation : uint8_t {
  kNone,
  kRelu,
  kRelu6,
  kElu,
  kLeakyRelu,
  kTanh,
  kSigmoid,
  kGeluExact,
  kGeluApproximate,
  kSwish,
  kHardSwish,
  kMish,
};

// nullopt for a name that stands for none.
std::optional<Activation> ActivationNamed(std::string_view name);

// In this order: bias or batch normalisation, the addition of a tensor of the output's shape, the
// activation.
struct FusedOps {
  int bias = -1;        // input number of the bias, one value per output channel
  int batch_norm = -1;  // first of the inputs scale, offset, mean, variance
  int add = -1;         // input number of the summand
  Activation activation = Activation::kNone;
  float alpha = 0;    // LeakyRelu's slope
  float epsilon = 0;  // batch normalisation
  bool empty() const {
    return bias < 0 && batch_norm < 0 && add < 0 && activation == Activation::kNone;
  }
};

// Reads fused_ops, leakyrelu_alpha and epsilon; the arguments begin at input `first_arg`. Nothing
// fused if the op has no such attribute. UNIMPLEMENTED names a list that is none of the above,
// INVALID_ARGUMENT one that does not fit the inputs.
absl::StatusOr<FusedOps> ReadFusedOps(const Prepare& p, int first_arg);

// INVALID_ARGUMENT unless each argument has the shape that `output`, whose channels are dimension
// `channel`, asks for.
absl::Status CheckFusedShapes(const Prepare& p, const FusedOps& fused, const Shape& output,
                              int channel);

// Whether preparation knows the arguments of the batch normalisation.
bool BatchNormIsConstant(const Prepare& p, const FusedOps& fused);
// Batch normalisation of n channels as y = scale * x + shift, from the values of its scale, offset,
// mean and variance; or from those that preparation knows.
void ComputeAffine(const std::array<const void*, 4>& args, const std::array<DataType, 4>& types,
                   float epsilon, int64_t n, float* scale, float* shift);
void ComputeAffine(const Prepare& p, const FusedOps& fused, int64_t n, float* scale, float* shift);

// `ops`, then the addition (as a sum with what the output holds) and the activation. Inside
// Guarded().
dnnl::post_ops PostOps(const FusedOps& fused, dnnl::post_ops ops = dnnl::post_ops());

// The activation of one value.
double Activate(Activation activation, double alpha, double x);

}  // namespace tenon::cpu
