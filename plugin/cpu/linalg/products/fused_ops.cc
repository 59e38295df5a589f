// What is fused to a product or convolution: read from fused_ops, checked, and applied as oneDNN's
// post-ops or one value at a time.
#include "plugin/cpu/linalg/products/fused_ops.h"

#include <cmath>
#include <optional>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "graph/base/status_macros.h"
#include "plugin/cpu/base/element.h"
#include "plugin/kernels/kernel.h"

namespace tenon::cpu {

std::optional<Activation> ActivationNamed(std::string_view name) {
  if (name == "Relu") return Activation::kRelu;
  if (name == "Relu6") return Activation::kRelu6;
  if (name == "Elu") return Activation::kElu;
  if (name == "LeakyRelu") return Activation::kLeakyRelu;
  if (name == "Tanh") return Activation::kTanh;
  if (name == "Sigmoid") return Activation::kSigmoid;
  if (name == "GeluExact") return Activation::kGeluExact;
  if (name == "GeluApproximate") return Activation::kGeluApproximate;
  if (name == "Swish") return Activation::kSwish;
  if (name == "HardSwish") return Activation::kHardSwish;
  if (name == "Mish") return Activation::kMish;
  return std::nullopt;
}

// [BiasAdd | FusedBatchNorm] [Add] [activation], each at most once, in this order, in which
// TensorFlow's remapper writes them. Another order is refused, not rearranged.
absl::StatusOr<FusedOps> ReadFusedOps(const Prepare& p, int first_arg) {
  FusedOps fused;
  if (p.op().FindAttr("fused_ops") == nullptr) return fused;
  TENON_ASSIGN_OR_RETURN(const std::vector<std::string_view> names, p.AttrStringList("fused_ops"));
  TENON_ASSIGN_OR_RETURN(fused.epsilon, p.AttrFloat("epsilon"));
  TENON_ASSIGN_OR_RETURN(fused.alpha, p.AttrFloat("leakyrelu_alpha"));
  size_t i = 0;
  int arg = first_arg;
  const auto next_is = [&](std::string_view name) {
    return i < names.size() && names[i] == name && ++i > 0;
  };
  if (next_is("BiasAdd")) {
    fused.bias = arg++;
  } else if (next_is("FusedBatchNorm")) {
    fused.batch_norm = arg;
    // Scale, offset, mean and variance.
    arg += 4;
  }
  if (next_is("Add")) fused.add = arg++;
  if (i < names.size()) {
    if (const auto activation = ActivationNamed(names[i])) {
      fused.activation = *activation;
      ++i;
    }
  }
  if (i < names.size())
    return p.Unimplemented(
        absl::StrCat("fused_ops [", absl::StrJoin(names, ", "), "] is not built"));
  if (arg > p.num_inputs()) {
    return p.Invalid(absl::StrCat("fused_ops [", absl::StrJoin(names, ", "), "] needs ",
                                  arg - first_arg, " arguments, the node has ",
                                  p.num_inputs() - first_arg));
  }
  return fused;
}

absl::Status CheckFusedShapes(const Prepare& p, const FusedOps& fused, const Shape& output,
                              int channel) {
  const Shape per_channel({output.dim(channel)});
  const auto check = [&](int input, std::string_view what) {
    if (p.input_shape(input) == per_channel) return absl::OkStatus();
    return p.Invalid(absl::StrCat(what, " must have the shape ", per_channel.ToString(),
                                  " of the output's channels, not ",
                                  p.input_shape(input).ToString()));
  };
  if (fused.bias >= 0) TENON_RETURN_IF_ERROR(check(fused.bias, "the bias"));
  if (fused.batch_norm >= 0) {
    for (int i = 0; i < 4; ++i) {
      TENON_RETURN_IF_ERROR(
          check(fused.batch_norm + i, "each argument of the batch normalisation"));
    }
  }
  if (fused.add >= 0 && !(p.input_shape(fused.add) == output)) {
    return p.Unimplemented(absl::StrCat("a fused Add of ", p.input_shape(fused.add).ToString(),
                                        " to ", output.ToString(),
                                        " is not built: the shapes must be equal"));
  }
  return absl::OkStatus();
}

bool BatchNormIsConstant(const Prepare& p, const FusedOps& fused) {
  for (int i = 0; i < 4; ++i) {
    if (p.input_value(fused.batch_norm + i) == nullptr) return false;
  }
  return true;
}

// The arguments are scale, offset, mean and variance. The arithmetic is in double and each result
// is rounded once, so that folding the normalisation into a product costs no accuracy of its own.
void ComputeAffine(const std::array<const void*, 4>& args, const std::array<DataType, 4>& types,
                   float epsilon, int64_t n, float* scale, float* shift) {
  const auto at = [&](int i, int64_t c) {
    double x = 0;
    VisitFloat(types[i], [&](auto element) { x = element.template As<double>(args[i], c); });
    return x;
  };
  for (int64_t c = 0; c < n; ++c) {
    const double factor = at(0, c) / std::sqrt(at(3, c) + epsilon);
    scale[c] = static_cast<float>(factor);
    shift[c] = static_cast<float>(at(1, c) - at(2, c) * factor);
  }
}

void ComputeAffine(const Prepare& p, const FusedOps& fused, int64_t n, float* scale, float* shift) {
  std::array<const void*, 4> args;
  std::array<DataType, 4> types;
  for (int i = 0; i < 4; ++i) {
    args[i] = p.input_value(fused.batch_norm + i)->data();
    types[i] = p.input_type(fused.batch_norm + i);
  }
  ComputeAffine(args, types, fused.epsilon, n, scale, shift);
}

// oneDNN applies post-ops in the order in which they are appended: the sum comes before the
// activation, as in the graph. `sum` reads what lies in the destination, which therefore must hold
// the added tensor before the product runs.
dnnl::post_ops PostOps(const FusedOps& fused, dnnl::post_ops ops) {
  using dnnl::algorithm;
  if (fused.add >= 0) ops.append_sum(1.0f);
  switch (fused.activation) {
    case Activation::kNone:
      break;
    case Activation::kRelu:
      // The arguments are a scale of the result, the algorithm, its alpha and its beta.
      ops.append_eltwise(1, algorithm::eltwise_relu, 0, 0);
      break;
    case Activation::kRelu6:
      ops.append_eltwise(1, algorithm::eltwise_clip, 0, 6);
      break;
    case Activation::kElu:
      ops.append_eltwise(1, algorithm::eltwise_elu, 1, 0);
      break;
    case Activation::kLeakyRelu:
      ops.append_eltwise(1, algorithm::eltwise_relu, fused.alpha, 0);
      break;
    case Activation::kTanh:
      ops.append_eltwise(1, algorithm::eltwise_tanh, 0, 0);
      break;
    case Activation::kSigmoid:
      ops.append_eltwise(1, algorithm::eltwise_logistic, 0, 0);
      break;
    case Activation::kGeluExact:
      ops.append_eltwise(1, algorithm::eltwise_gelu_erf, 0, 0);
      break;
    case Activation::kGeluApproximate:
      ops.append_eltwise(1, algorithm::eltwise_gelu_tanh, 0, 0);
      break;
    case Activation::kSwish:
      ops.append_eltwise(1, algorithm::eltwise_swish, 1, 0);
      break;
    case Activation::kHardSwish:
      ops.append_eltwise(1, algorithm::eltwise_hardswish, 0, 0);
      break;
    case Activation::kMish:
      ops.append_eltwise(1, algorithm::eltwise_mish, 0, 0);
      break;
  }
  return ops;
}

// The comparisons are written so that a NaN falls through to `x`, as it passes TensorFlow's Relu.
double Activate(Activation activation, double alpha, double x) {
  switch (activation) {
    case Activation::kNone:
      return x;
    case Activation::kRelu:
      return x < 0 ? 0 : x;
    case Activation::kRelu6:
      return x < 0 ? 0 : x > 6 ? 6 : x;
    case Activation::kElu:
      return x < 0 ? std::expm1(x) : x;
    case Activation::kLeakyRelu:
      return x < 0 ? alpha * x : x;
    case Activation::kTanh:
      return std::tanh(x);
    case Activation::kSigmoid:
      return 1 / (1 + std::exp(-x));
    case Activation::kGeluExact:
      return 0.5 * x * (1 + std::erf(x * M_SQRT1_2));
    case Activation::kGeluApproximate:
      // sqrt(2 / pi), and the cubic term of Hendrycks and Gimpel's approximation.
      return 0.5 * x * (1 + std::tanh(0.7978845608028654 * (x + 0.044715 * x * x * x)));
    case Activation::kSwish:
      return x / (1 + std::exp(-x));
    case Activation::kHardSwish:
      return x * Activate(Activation::kRelu6, 0, x + 3) / 6;
    case Activation::kMish:
      return x * std::tanh(std::log1p(std::exp(x)));
  }
  return x;
}

}  // namespace tenon::cpu
