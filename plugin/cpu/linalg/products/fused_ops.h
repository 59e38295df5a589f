// The operations that TensorFlow's fused ops (_FusedMatMul, _FusedConv2D,
// _FusedDepthwiseConv2dNative) compute after the product or convolution.
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

// Returns the activation of this name in attribute fused_ops. nullopt if no activation has it.
std::optional<Activation> ActivationNamed(std::string_view name);

// The fused operations of a node, computed in this order: bias or batch normalisation, the addition
// of a tensor of the output's shape, the activation. Input numbers of -1 stand for none.
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

// Reads attributes fused_ops, leakyrelu_alpha and epsilon. The arguments of the fused operations
// begin at input `first_arg`. The result is empty if the op has no attribute fused_ops.
// UNIMPLEMENTED for a list that FusedOps cannot express. INVALID_ARGUMENT for a list that does not
// fit the number of inputs.
absl::StatusOr<FusedOps> ReadFusedOps(const Prepare& p, int first_arg);

// Returns INVALID_ARGUMENT unless each argument fits the output's shape `output`. Dimension
// `channel` of the output counts the channels.
absl::Status CheckFusedShapes(const Prepare& p, const FusedOps& fused, const Shape& output,
                              int channel);

// Returns whether preparation knows the values of all arguments of the batch normalisation.
bool BatchNormIsConstant(const Prepare& p, const FusedOps& fused);
// Writes batch normalisation in the form y = scale * x + shift, for n channels. `args` point to the
// values of the batch normalisation's scale, offset, mean and variance, `types` are their types.
// The second form takes the values that preparation knows.
void ComputeAffine(const std::array<const void*, 4>& args, const std::array<DataType, 4>& types,
                   float epsilon, int64_t n, float* scale, float* shift);
void ComputeAffine(const Prepare& p, const FusedOps& fused, int64_t n, float* scale, float* shift);

// Appends the addition and the activation to `ops` and returns the result. The addition becomes a
// sum with the output's previous values: copy the summand to the output before. Bias and batch
// normalisation are not appended. Only inside Guarded().
dnnl::post_ops PostOps(const FusedOps& fused, dnnl::post_ops ops = dnnl::post_ops());

// Returns the activation of one value.
double Activate(Activation activation, double alpha, double x);

}  // namespace tenon::cpu
