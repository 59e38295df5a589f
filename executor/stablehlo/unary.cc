// Ops on each element of one tensor.
#include <cmath>
#include <limits>

#include "executor/stablehlo/rows.h"
#include "executor/stablehlo/shared.h"
#include "graph/base/status_macros.h"

namespace tenon::stablehlo {
namespace unary_ops {
namespace {

template <OpName kName>
absl::Status Plain(Op& op) {
  return op.Out(op.b.Unary(kName.text, op.In(0)));
}

template <OpName kName>
absl::Status PlainChlo(Op& op) {
  return op.Out(op.b.Chlo(kName.text, op.In(0)));
}

// XLA's CPU 0.115 answers wrongly for vectors where it sees that an arc tangent is of a quotient by
// 1.
absl::Status Atan(Op& op) {
  const Value& x = op.In(0);
  if (IsComplex(x.dtype)) return op.Out(op.b.Chlo("atan", x));
  const Value one = op.b.Unary("optimization_barrier", op.b.Scalar(x.dtype, 1));
  return op.Out(op.b.Binary("atan2", x, op.b.Broadcast(one, x.shape, {})));
}

// The approximations of XLA lose a NaN.
template <OpName kName>
absl::Status KeepingNan(Op& op) {
  const Value& x = op.In(0);
  return op.Out(op.b.Select(op.b.Compare("NE", x, x), x, op.b.Chlo(kName.text, x)));
}

// NaN at 0, where XLA's approximation is infinite.
absl::Status Digamma(Op& op) {
  const Value& x = op.In(0);
  return op.Out(op.b.Select(op.b.Compare("EQ", x, 0.0), op.b.Div(x, x), op.b.Chlo("digamma", x)));
}

// TensorFlow's approximation for double divides infinity by infinity.
absl::Status Erf(Op& op) {
  const Value& x = op.In(0);
  if (x.dtype != DataType::kDouble) return KeepingNan<"erf">(op);
  const Value difference = op.b.Sub(x, x);  // NaN for NaN and the infinities, else 0
  return op.Out(op.b.Select(op.b.Compare("NE", difference, 0.0), difference, op.b.Chlo("erf", x)));
}

absl::Status Abs(Op& op) {
  const Value& x = op.In(0);
  if (IsComplex(x.dtype)) return op.Out(op.b.AbsComplex(x));
  return op.Out(op.b.Unary("abs", x));
}

// Integers are whole numbers already.
template <OpName kName>
absl::Status Rounding(Op& op) {
  if (IsInteger(op.InType(0))) {
    op.Forward(0, 0);
    return absl::OkStatus();
  }
  return op.Out(op.b.Unary(kName.text, op.In(0)));
}

absl::Status Sign(Op& op) {
  const Value& x = op.In(0);
  if (IsComplex(x.dtype) || IsFloating(x.dtype)) return op.Out(op.b.Unary("sign", x));
  // Unsigned integers have no sign op.
  const Value zero = op.b.Like(x, 0), one = op.b.Like(x, 1);
  const Value above = op.b.Select(op.b.Compare("GT", x, zero), one, zero);
  if (op.InType(0) == DataType::kUint8 || op.InType(0) == DataType::kUint16 ||
      op.InType(0) == DataType::kUint32 || op.InType(0) == DataType::kUint64)
    return op.Out(above);
  return op.Out(op.b.Select(op.b.Compare("LT", x, zero), op.b.Like(x, -1), above));
}

absl::Status Square(Op& op) {
  const Value& x = op.In(0);
  return op.Out(op.b.Mul(x, x));
}

absl::Status Reciprocal(Op& op) {
  const Value& x = op.In(0);
  if (IsInteger(x.dtype)) op.CheckAll(op.b.Compare("NE", x, 0.0), "Integer division by zero");
  return op.Out(op.b.Div(op.b.Like(x, 1), x));
}

absl::Status Relu(Op& op) {
  const Value& x = op.In(0);
  return op.Out(op.b.Max(x, 0.0));
}

absl::Status Relu6(Op& op) {
  const Value& x = op.In(0);
  return op.Out(op.b.Min(op.b.Max(x, 0.0), 6.0));
}

absl::Status LeakyRelu(Op& op) {
  TENON_ASSIGN_OR_RETURN(const float alpha, op.Float("alpha"));
  const Value& x = op.In(0);
  const Value below = op.b.Mul(x, alpha);
  if (alpha <= 1) return op.Out(op.b.Max(x, below));
  return op.Out(op.b.Select(op.b.Compare("GT", x, 0.0), x, below));
}

// exp(x) - 1. In half and bfloat16 TensorFlow rounds the exponential first.
Value ExpLessOne(Op& op, const Value& x) {
  if (x.dtype == DataType::kFloat || x.dtype == DataType::kDouble)
    return op.b.Unary("exponential_minus_one", x);
  return op.b.Sub(op.b.Unary("exponential", x), 1.0);
}

absl::Status Elu(Op& op) {
  const Value& x = op.In(0);
  const Value below = ExpLessOne(op, op.b.Min(x, 0.0));
  return op.Out(op.b.Select(op.b.Compare("LT", x, 0.0), below, x));
}

constexpr double kSeluScale = 1.0507009873554804934193349852946;
constexpr double kSeluScaleAlpha = 1.7580993408473768599402175208123;

absl::Status Selu(Op& op) {
  const Value& x = op.In(0);
  const Value below = op.b.Mul(ExpLessOne(op, op.b.Min(x, 0.0)), kSeluScaleAlpha);
  return op.Out(op.b.Select(op.b.Compare("LT", x, 0.0), below, op.b.Mul(x, kSeluScale)));
}

// log(1 + exp(x)): x itself where that is large, exp(x) where it is small.
absl::Status Softplus(Op& op) {
  const Value& x = op.In(0);
  double epsilon = std::numeric_limits<float>::epsilon();
  if (x.dtype == DataType::kDouble) epsilon = std::numeric_limits<double>::epsilon();
  if (x.dtype == DataType::kHalf) epsilon = 0x1p-10;
  if (x.dtype == DataType::kBfloat16) epsilon = 0x1p-7;
  const double threshold = std::log(epsilon) + 2;
  const Value e = op.b.Unary("exponential", x);
  const Value small =
      op.b.Select(op.b.Compare("LT", x, threshold), e, op.b.Unary("log_plus_one", e));
  return op.Out(op.b.Select(op.b.Compare("GT", x, -threshold), x, small));
}

absl::Status Softsign(Op& op) {
  const Value& x = op.In(0);
  return op.Out(op.b.Div(x, op.b.Add(op.b.Unary("abs", x), 1.0)));
}

absl::Status IsNan(Op& op) {
  const Value& x = op.In(0);
  return op.Out(op.b.Compare("NE", x, x));
}

absl::Status IsInf(Op& op) {
  const Value& x = op.In(0);
  return op.Out(op.b.Compare("EQ", op.b.Unary("abs", x), op.b.Highest(x.dtype, x.shape)));
}

absl::Status PopulationCount(Op& op) {
  return op.Out(op.b.Convert(op.b.Unary("popcnt", op.In(0)), DataType::kUint8));
}

absl::Status IsFinite(Op& op) { return op.Out(op.b.IsFinite(op.In(0))); }

absl::Status ZerosLike(Op& op) {
  if (op.InType(0) == DataType::kVariant) return ZerosLikeList(op);
  TENON_ASSIGN_OR_RETURN(const Shape shape, op.OutShape());
  return op.Out(op.b.Full(op.OutType(0), shape, 0));
}

absl::Status OnesLike(Op& op) {
  TENON_ASSIGN_OR_RETURN(const Shape shape, op.OutShape());
  return op.Out(op.b.Full(op.OutType(0), shape, 1));
}

absl::Status Conj(Op& op) { return op.Out(op.b.Conj(op.In(0))); }

absl::Status RealPart(Op& op) { return op.Out(op.b.Real(op.In(0))); }
absl::Status ImagPart(Op& op) { return op.Out(op.b.Real(op.In(0), true)); }

absl::Status Angle(Op& op) {
  const Value& x = op.In(0);
  return op.Out(op.b.Binary("atan2", op.b.Real(x, true), op.b.Real(x)));
}

// Whether each element is a number; the value passes through.
absl::Status CheckNumerics(Op& op) {
  op.CheckAll(op.b.IsFinite(op.In(0)), "Tensor had NaN or Inf values");
  op.Forward(0, 0);
  return absl::OkStatus();
}

absl::Status ClipByValue(Op& op) {
  const Value& x = op.In(0);
  const Value low = op.b.BroadcastTo(op.In(1), x.shape), high = op.b.BroadcastTo(op.In(2), x.shape);
  return op.Out(op.b.Max(op.b.Min(x, high), low));
}

constexpr Types kSigned =
    kFloats | kComplexes |
    Types{DataType::kInt8, DataType::kInt16, DataType::kInt32, DataType::kInt64};

constexpr Row kRows[] = {
    {"Abs", Abs, kSigned},
    {"ComplexAbs", Abs, kFloatsAndComplexes},
    {"Neg", Plain<"negate">, kNumbers},
    {"Exp", Plain<"exponential">, kFloatsAndComplexes},
    {"Expm1", Plain<"exponential_minus_one">, kFloatsAndComplexes},
    {"Log", Plain<"log">, kFloatsAndComplexes},
    {"Log1p", Plain<"log_plus_one">, kFloatsAndComplexes},
    {"Tanh", Plain<"tanh">, kFloatsAndComplexes},
    {"Sigmoid", Plain<"logistic">, kFloatsAndComplexes},
    {"Sin", Plain<"sine">, kFloatsAndComplexes},
    {"Cos", Plain<"cosine">, kFloatsAndComplexes},
    {"Tan", Plain<"tan">, kFloatsAndComplexes},
    {"Sqrt", Plain<"sqrt">, kFloatsAndComplexes},
    {"Rsqrt", Plain<"rsqrt">, kFloatsAndComplexes},
    {"Floor", Rounding<"floor">, kReals},
    {"Ceil", Rounding<"ceil">, kReals},
    {"Rint", Rounding<"round_nearest_even">, kFloats},
    {"Round", Rounding<"round_nearest_even">, kFloats},
    {"Sign", Sign, kNumbers},
    {"Square", Square, kNumbers},
    {"Reciprocal", Reciprocal, kNumbers},
    {"Inv", Reciprocal, kNumbers},
    {"Erf", Erf, kFloats},
    {"Erfc", KeepingNan<"erfc">, kFloats},
    {"Erfinv", PlainChlo<"erf_inv">, kFloats},
    {"Lgamma", PlainChlo<"lgamma">, kFloats},
    {"Digamma", Digamma, kFloats},
    {"BesselI1e", PlainChlo<"bessel_i1e">, kFloats},
    {"Acos", PlainChlo<"acos">, kFloatsAndComplexes},
    {"Acosh", PlainChlo<"acosh">, kFloatsAndComplexes},
    {"Asin", PlainChlo<"asin">, kFloatsAndComplexes},
    {"Asinh", PlainChlo<"asinh">, kFloatsAndComplexes},
    {"Atan", Atan, kFloatsAndComplexes},
    {"Atanh", PlainChlo<"atanh">, kFloatsAndComplexes},
    {"Cosh", PlainChlo<"cosh">, kFloatsAndComplexes},
    {"Sinh", PlainChlo<"sinh">, kFloatsAndComplexes},
    {"Relu", Relu, kReals},
    {"Relu6", Relu6, kReals},
    {"LeakyRelu", LeakyRelu, kFloats},
    {"Elu", Elu, kFloats},
    {"Selu", Selu, kFloats},
    {"Softplus", Softplus, kFloats},
    {"Softsign", Softsign, kFloats},
    {"IsNan", IsNan, kFloats | kBools},
    {"IsInf", IsInf, kFloats | kBools},
    {"IsFinite", IsFinite, kFloats | kBools},
    {"PopulationCount", PopulationCount, kInts},
    {"LogicalNot", Plain<"not">, kBools},
    {"Invert", Plain<"not">, kInts},
    {"ZerosLike", ZerosLike, kAll | kVariants, 0, 0, true},
    {"OnesLike", OnesLike, kAll, 0, 0, true},
    {"Conj", Conj, kComplexes},
    {"Real", RealPart, kFloatsAndComplexes},
    {"Imag", ImagPart, kFloatsAndComplexes},
    {"Angle", Angle, kFloatsAndComplexes},
    {"CheckNumerics", CheckNumerics, kFloats},
    {"CheckNumericsV2", CheckNumerics, kFloats},
    {"ClipByValue", ClipByValue, kReals},
};

}  // namespace
}  // namespace unary_ops

Rows UnaryRows() { return unary_ops::kRows; }

}  // namespace tenon::stablehlo
