// Recognizes activations that are written out: gelu, swish, hard swish, mish.
#include <cmath>

#include "grappler_lite/passes/remapping/expression.h"
#include "grappler_lite/passes/remapping/rewrites.h"

namespace tenon {
namespace {

// The constants of GELU: x/2 * (1 + erf(x / sqrt(2))), and its usual approximation by tanh, which
// has the coefficient 0.044715. Graphs hold them as floats, hence Near.
constexpr double kSqrtHalf = 0.70710678118654752, kSqrtTwoOverPi = 0.79788456080286536;
constexpr double kCubic = 0.044715;

// 1 + f(z): what f is applied to.
std::optional<Output> OnePlus(Expression& e, Output o, std::string_view f) {
  const std::optional<Sum> sum = e.SumAt(o);
  if (!sum || sum->constant != 1 || sum->terms.size() != 1) return std::nullopt;
  return e.ArgumentOf(sum->terms[0], f);
}

// erf(x / sqrt(2)), of which `z` is the argument.
bool IsErfArgument(Expression& e, Output z, double sign, Output x) {
  const Product p = e.ProductAt(z);
  return p.IsPowerOf(x, 1) && Near(p.scale, sign * kSqrtHalf);
}

// sqrt(2 / pi) * (x + 0.044715 x^3), of which the second factor may have x taken out.
bool IsTanhArgument(Expression& e, Output z, Output x) {
  const Product p = e.ProductAt(z);
  if (!Near(p.scale, kSqrtTwoOverPi) || p.factors.empty() || p.factors.size() > 2) return false;
  const bool x_outside = p.factors.size() == 2;
  if (x_outside && p.factors[0] != x && p.factors[1] != x) return false;
  const std::optional<Sum> sum = e.SumAt(p.factors[x_outside && p.factors[0] == x ? 1 : 0]);
  if (!sum || sum->constant != (x_outside ? 1 : 0)) return false;
  const auto is_cubic = [&](Output o) {
    const Product q = e.ProductAt(o);
    return Near(q.scale, kCubic) && q.IsPowerOf(x, x_outside ? 2 : 3);
  };
  if (x_outside) return sum->terms.size() == 1 && is_cubic(sum->terms[0]);
  if (sum->terms.size() != 2) return false;
  const int linear = sum->terms[0] == x ? 0 : 1;
  return sum->terms[linear] == x && is_cubic(sum->terms[1 - linear]);
}

// What `gate`, times x and `scale`, makes of x; empty if that is no activation.
std::string_view ActivationOf(Expression& e, double scale, Output x, Output gate) {
  if (Near(scale, 0.5)) {
    if (const std::optional<Output> z = OnePlus(e, gate, "Erf"); z && IsErfArgument(e, *z, 1, x))
      return "GeluExact";
    if (const std::optional<Output> z = e.ArgumentOf(gate, "Erfc");
        z && IsErfArgument(e, *z, -1, x))
      return "GeluExact";
    if (const std::optional<Output> z = OnePlus(e, gate, "Tanh"); z && IsTanhArgument(e, *z, x))
      return "GeluApproximate";
    return "";
  }
  const auto is_x = [&](std::optional<Output> o) { return o && *o == x; };
  if (scale == 1) {
    if (is_x(e.ArgumentOf(gate, "Sigmoid"))) return "Swish";
    if (const auto z = e.ArgumentOf(gate, "Tanh"); z && is_x(e.ArgumentOf(*z, "Softplus")))
      return "Mish";
    return "";
  }
  if (!Near(scale, 1.0 / 6)) return "";
  const std::optional<Output> shifted = e.ArgumentOf(gate, "Relu6");
  const std::optional<Sum> sum = shifted ? e.SumAt(*shifted) : std::nullopt;
  return sum && sum->constant == 3 && sum->terms.size() == 1 && is_x(sum->terms[0]) ? "HardSwish"
                                                                                    : "";
}

// n becomes TensorFlow's op for an activation that stands alone.
bool BecomeActivation(Sweep& s, NodeId n, std::string_view activation, Output x) {
  const std::string_view op = activation == "Swish"  ? "_MklSwish"
                              : activation == "Mish" ? "_MklFusedMish"
                                                     : "";
  if (op.empty() || !s.context().target.is_tensorflow()) return false;
  const DataType type = s.graph().output_type({n, 0});
  Sweep::Attrs attrs = {{"T", attr::Type(type)}};
  if (!s.HasKernel(n, op, attrs) || !s.Allow()) return false;
  s.Become(n, op, {&x, 1}, std::move(attrs));
  return true;
}

}  // namespace

bool FuseWrittenActivation(Sweep& s, NodeId n) {
  Expression e(s, n);
  const Product p = e.ProductAt({n, 0});
  if (p.factors.size() != 2) return false;
  for (int i : {0, 1}) {
    const Output x = p.factors[i];
    const std::string_view activation = ActivationOf(e, p.scale, x, p.factors[1 - i]);
    if (activation.empty()) continue;
    const std::optional<Fusable> into =
        FusableOutput(s, x, n, {"BiasAdd", "FusedBatchNorm"}, e.edges_to(x));
    return (into && Fuse(s, n, {*into, activation})) || BecomeActivation(s, n, activation, x);
  }
  return false;
}

}  // namespace tenon
