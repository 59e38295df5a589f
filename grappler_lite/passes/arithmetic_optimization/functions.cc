// Elementwise functions said in a cheaper way.
#include <cmath>
#include <limits>
#include <vector>

#include "graph/tensor/small_float.h"
#include "grappler_lite/passes/arithmetic_optimization/patterns.h"
#include "grappler_lite/passes/arithmetic_optimization/rewrites.h"

namespace tenon::arithmetic {
namespace {

// Types that TensorFlow has kernels of every function for.
bool IsCommonType(DataType t) {
  return IsFloating(t) || t == DataType::kInt32 || t == DataType::kInt64;
}

// x, if n is Pow(x, v) of x's shape.
std::optional<Output> BaseOfPow(const Sweep& s, NodeId n, double v) {
  const std::span<const Output> in = s.graph().data_inputs(n);
  const bool fits = IsCommonType(TypeOf(s.graph(), n)) && KeepsShapeAsSplat(s, in[0], in[1], v);
  return fits ? std::optional(in[0]) : std::nullopt;
}

// Pow(x, 2) is Square(x), but for the last bit of a pow that does not round correctly.
bool PowToSquare(Sweep& s, NodeId n) {
  const std::optional<Output> x = BaseOfPow(s, n, 2);
  return x && BecomeTyped(s, n, "Square", {*x});
}

// Pow(x, 3) is Mul(x, Square(x)), as in TensorFlow.
bool PowToCube(Sweep& s, NodeId n) {
  const std::optional<Output> x = BaseOfPow(s, n, 3);
  const Sweep::Attrs attrs = TypeAttr(TypeOf(s.graph(), n));
  if (!x || !s.HasKernel(n, "Square", attrs) || !s.HasKernel(n, "Mul", attrs) || !s.Allow())
    return false;
  const Output factors[] = {*x, s.Add(n, "square", "Square", {&*x, 1}, attrs, s.shape(*x))};
  s.Become(n, "Mul", factors, attrs);
  return true;
}

// Pow(x, -1) is 1 / x, but for rounding. Not of integers, for which a negative exponent is an
// error.
bool PowToReciprocal(Sweep& s, NodeId n) {
  const std::optional<Output> x = BaseOfPow(s, n, -1);
  return x && IsFloating(TypeOf(s.graph(), n)) && BecomeTyped(s, n, "Reciprocal", {*x});
}

// Pow(-0, 0.5) and Pow(-Inf, 0.5) are not Sqrt's.
bool PowToRoot(Sweep& s, NodeId n) {
  if (const std::optional<Output> x = BaseOfPow(s, n, 0.5)) return BecomeTyped(s, n, "Sqrt", {*x});
  const std::optional<Output> x = BaseOfPow(s, n, -0.5);
  return x && BecomeTyped(s, n, "Rsqrt", {*x});
}

// x * x is Square(x).
bool MulToSquare(Sweep& s, NodeId n) {
  const Output x = s.graph().data_inputs(n)[0];
  return x == s.graph().data_inputs(n)[1] && IsCommonType(TypeOf(s.graph(), n)) &&
         BecomeTyped(s, n, "Square", {x});
}

// Square(x - y) is SquaredDifference(x, y).
bool FuseSquaredDifference(Sweep& s, NodeId n) {
  const Graph& g = s.graph();
  const NodeId sub = OwnProducer(s, n, 0, {"Sub"});
  return sub != kNoNode && IsCommonType(TypeOf(g, n)) &&
         BecomeTyped(s, n, "SquaredDifference", {g.data_inputs(sub)[0], g.data_inputs(sub)[1]});
}

// The reciprocals of a floating constant's elements, each a number of ordinary size; with `exact`,
// only if no quotient or product can tell the difference: powers of two.
template <typename T>
std::optional<Tensor> ReciprocalsOf(const Tensor& c, bool exact) {
  absl::StatusOr<Tensor> result = Tensor::Allocate(c.dtype(), c.shape());
  if (!result.ok() || c.num_elements() == 0) return std::nullopt;
  for (int64_t i = 0; i < c.num_elements(); ++i) {
    const T v = ElementAt<T>(c, i);
    int exponent = 0;
    if (!std::isnormal(v) || !std::isnormal(1 / v)) return std::nullopt;
    if (exact && std::abs(std::frexp(v, &exponent)) != T{0.5}) return std::nullopt;
    result->flat<T>()[i] = 1 / v;
  }
  return *std::move(result);
}

// The same of a constant of half or bfloat16, for powers of two: then neither the quotient nor the
// product rounds but to the type.
std::optional<Tensor> SmallReciprocalsOf(const Tensor& c) {
  const SmallFloat format = *SmallFloatOf(c.dtype());
  const double least = std::ldexp(1.0, 1 - format.bias);
  absl::StatusOr<Tensor> result = Tensor::Allocate(c.dtype(), c.shape());
  if (!result.ok() || c.num_elements() == 0) return std::nullopt;
  for (int64_t i = 0; i < c.num_elements(); ++i) {
    const double v = format.Decode(ElementAt<uint16_t>(c, i));
    const auto bits = static_cast<uint16_t>(format.Encode(1 / v));
    int exponent = 0;
    if (!(std::abs(v) >= least && std::abs(1 / v) >= least) ||
        std::abs(std::frexp(v, &exponent)) != 0.5 || format.Decode(bits) != 1 / v)
      return std::nullopt;
    result->flat<uint16_t>()[i] = bits;
  }
  return *std::move(result);
}

bool MultiplyByReciprocal(Sweep& s, NodeId n, bool exact) {
  constexpr int64_t kMostElements = 1 << 16;
  const Graph& g = s.graph();
  const Output x = g.data_inputs(n)[0];
  const std::optional<Tensor> c = s.ConstOf(g.data_inputs(n)[1], kMostElements);
  if (!c) return false;
  std::optional<Tensor> factor;
  if (c->dtype() == DataType::kFloat) factor = ReciprocalsOf<float>(*c, exact);
  if (c->dtype() == DataType::kDouble) factor = ReciprocalsOf<double>(*c, exact);
  const bool is_small = c->dtype() == DataType::kHalf || c->dtype() == DataType::kBfloat16;
  if (is_small && exact) factor = SmallReciprocalsOf(*c);
  const Sweep::Attrs attrs = TypeAttr(c->dtype());
  if (!factor || !s.HasKernel(n, "Mul", attrs) || !s.HasConstKernel(n, c->dtype()) || !s.Allow())
    return false;
  const Output factors[] = {x, s.AddConst(n, "reciprocal", *factor)};
  s.Become(n, "Mul", factors, attrs);
  return true;
}

// x / 2^k is x * 2^-k.
bool DivideByPowerOfTwo(Sweep& s, NodeId n) { return MultiplyByReciprocal(s, n, true); }

// x / c is x * (1 / c), which rounds twice.
bool DivideByConstant(Sweep& s, NodeId n) { return MultiplyByReciprocal(s, n, false); }

// x / sqrt(y) is x * rsqrt(y), and 1 / sqrt(y) rsqrt(y).
bool SqrtDivToRsqrtMul(Sweep& s, NodeId n) {
  const Graph& g = s.graph();
  const NodeId sqrt = OwnProducer(s, n, 1, {"Sqrt"});
  if (sqrt == kNoNode) return false;
  const Output x = g.data_inputs(n)[0], y = g.data_inputs(sqrt)[0];
  if (KeepsShapeAsSplat(s, y, x, 1)) return BecomeTyped(s, n, "Rsqrt", {y});
  const Sweep::Attrs attrs = TypeAttr(TypeOf(g, n));
  if (!s.HasKernel(n, "Rsqrt", attrs) || !s.HasKernel(n, "Mul", attrs) || !s.Allow()) return false;
  const Output factors[] = {x, s.Add(n, "rsqrt", "Rsqrt", {&y, 1}, attrs, s.shape(y))};
  s.Become(n, "Mul", factors, attrs);
  return true;
}

// 1 / sqrt(x), in two ops.
bool ReciprocalOfSqrt(Sweep& s, NodeId n) {
  const NodeId sqrt = OwnProducer(s, n, 0, {"Sqrt"});
  return sqrt != kNoNode && BecomeTyped(s, n, "Rsqrt", {s.graph().data_inputs(sqrt)[0]});
}

// log(1 + x). Log1p is the more exact one for small x, and so not the same number.
bool ToLog1p(Sweep& s, NodeId n) {
  const Graph& g = s.graph();
  const NodeId add = OwnProducer(s, n, 0, {"Add", "AddV2"});
  for (int i = 0; add != kNoNode && i < 2; ++i) {
    const Output one = g.data_inputs(add)[1 - i], x = g.data_inputs(add)[i];
    if (KeepsShapeAsSplat(s, x, one, 1)) return BecomeTyped(s, n, "Log1p", {x});
  }
  return false;
}

// exp(x) - 1. Expm1 is the more exact one for small x, and so not the same number.
bool ToExpm1(Sweep& s, NodeId n) {
  const Graph& g = s.graph();
  const NodeId exp = OwnProducer(s, n, 0, {"Exp"});
  const Output one = g.data_inputs(n)[1];
  return exp != kNoNode && KeepsShapeAsSplat(s, {exp, 0}, one, 1) &&
         BecomeTyped(s, n, "Expm1", {g.data_inputs(exp)[0]});
}

// Where softmax is too small for its type, its logarithm is infinite and LogSoftmax is not.
bool ToLogSoftmax(Sweep& s, NodeId n) {
  const NodeId softmax = OwnProducer(s, n, 0, {"Softmax"});
  return softmax != kNoNode && BecomeTyped(s, n, "LogSoftmax", {s.graph().data_inputs(softmax)[0]});
}

// max(x, a * x) for 0 < a <= 1: x where x is positive, a * x where it is negative. For a = 0 the
// graph gives NaN at infinity and LeakyRelu does not; for a > 1 the larger operand is the other
// one.
bool MaximumToLeakyRelu(Sweep& s, NodeId n) {
  const Graph& g = s.graph();
  const DataType type = TypeOf(g, n);
  if (type != DataType::kFloat && type != DataType::kDouble) return false;
  for (int i : {0, 1}) {
    const NodeId scaled = OwnProducer(s, n, i, {"Mul"});
    const Output x = g.data_inputs(n)[1 - i];
    for (int j = 0; scaled != kNoNode && j < 2; ++j) {
      const Output slope = g.data_inputs(scaled)[1 - j];
      if (g.data_inputs(scaled)[j] != x) continue;
      const std::optional<double> a = s.SplatOf(slope);
      // The attribute is a float. Kernels may take subnormal ones for 0.
      if (!a || !(*a >= std::numeric_limits<float>::min() && *a <= 1) ||
          static_cast<float>(*a) != *a || !KeepsShapeAsSplat(s, x, slope, *a))
        continue;
      Sweep::Attrs attrs = TypeAttr(type);
      attrs.push_back({"alpha", attr::Float(static_cast<float>(*a))});
      if (!s.HasKernel(n, "LeakyRelu", attrs) || !s.Allow()) return false;
      s.Become(n, "LeakyRelu", {&x, 1}, std::move(attrs));
      return true;
    }
  }
  return false;
}

constexpr Rewrite kFunctionsRewrites[] = {
    {"pow_to_square", Exactness::kToleranced, PowToSquare, "Pow"},
    {"pow_to_cube", Exactness::kToleranced, PowToCube, "Pow"},
    {"pow_to_reciprocal", Exactness::kToleranced, PowToReciprocal, "Pow"},
    {"pow_to_root", Exactness::kFastMath, PowToRoot, "Pow"},
    {"mul_to_square", Exactness::kExact, MulToSquare, "Mul"},
    {"fuse_squared_difference", Exactness::kExact, FuseSquaredDifference, "Square"},
    {"maximum_to_leaky_relu", Exactness::kExact, MaximumToLeakyRelu, "Maximum"},
    {"divide_by_power_of_two", Exactness::kExact, DivideByPowerOfTwo, "RealDiv Div"},
    {"sqrt_div_to_rsqrt_mul", Exactness::kFastMath, SqrtDivToRsqrtMul, "RealDiv Div"},
    {"divide_by_constant", Exactness::kFastMath, DivideByConstant, "RealDiv Div"},
    {"reciprocal_of_sqrt", Exactness::kFastMath, ReciprocalOfSqrt, "Reciprocal Inv"},
    {"to_log1p", Exactness::kFastMath, ToLog1p, "Log"},
    {"to_expm1", Exactness::kFastMath, ToExpm1, "Sub"},
    {"to_log_softmax", Exactness::kFastMath, ToLogSoftmax, "Log"},
};

}  // namespace

std::span<const Rewrite> Functions() { return kFunctionsRewrites; }

}  // namespace tenon::arithmetic
