// Ops on the elements of two tensors, which broadcast.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "executor/stablehlo/rows.h"
#include "executor/stablehlo/shared.h"
#include "graph/base/status_macros.h"

namespace tenon::stablehlo {
Value RoundedOnce(Op& op, const Value& x, const Value& y) {
  return op.b.Div(x, op.b.Unary("optimization_barrier", y));
}

namespace binary_ops {
namespace {

struct Pair {
  Value x, y;
};

// The two inputs with the shape that they broadcast to.
absl::StatusOr<Pair> Operands(Op& op) {
  TENON_ASSIGN_OR_RETURN(const Shape shape, op.OutShape());
  return Pair{op.b.BroadcastTo(op.In(0), shape), op.b.BroadcastTo(op.In(1), shape)};
}

using Combine = Value (*)(Op& op, const Value& x, const Value& y);

template <Combine kCombine>
absl::Status Broadcasting(Op& op) {
  TENON_ASSIGN_OR_RETURN(const Pair pair, Operands(op));
  return op.Out(kCombine(op, pair.x, pair.y));
}

template <OpName kName>
Value Plain(Op& op, const Value& x, const Value& y) {
  return op.b.Binary(kName.text, x, y);
}

// A sum of booleans is an or, a product an and: TensorFlow has neither.
template <OpName kDirection>
Value Comparing(Op& op, const Value& x, const Value& y) {
  return op.b.Compare(kDirection.text, x, y);
}

// Equal and NotEqual answer a single boolean where shapes do not fit and the attribute says so.
template <OpName kDirection>
absl::Status EqualOrNot(Op& op) {
  TENON_ASSIGN_OR_RETURN(const Shape shape, op.OutShape());
  return op.Out(op.b.Compare(kDirection.text, op.b.BroadcastTo(op.In(0), shape),
                             op.b.BroadcastTo(op.In(1), shape)));
}

void CheckDivisor(Op& op, const Value& y) {
  op.CheckAll(op.b.Compare("NE", y, 0.0), "Integer division by zero");
}

// A divisor that never is 0 or makes an overflow, in place of one that may be. The check reports
// the 0.
Value SafeDivisor(Op& op, const Value& y) {
  return op.b.Select(op.b.Compare("EQ", y, 0.0), op.b.Like(y, 1), y);
}

Value Divide(Op& op, const Value& x, const Value& y) {
  if (!IsInteger(x.dtype)) return op.b.Div(x, y);
  CheckDivisor(op, y);
  return op.b.Div(x, SafeDivisor(op, y));
}

Value TruncateDivide(Op& op, const Value& x, const Value& y) {
  if (IsInteger(x.dtype)) return Divide(op, x, y);
  const Value quotient = RoundedOnce(op, x, y);
  return op.b.Select(op.b.Compare("LT", quotient, 0.0), op.b.Unary("ceil", quotient),
                     op.b.Unary("floor", quotient));
}

Value TruncateRemainder(Op& op, const Value& x, const Value& y) {
  if (!IsInteger(x.dtype)) return op.b.Binary("remainder", x, y);
  CheckDivisor(op, y);
  return op.b.Binary("remainder", x, SafeDivisor(op, y));
}

// Whether a remainder is not 0 and has another sign than the divisor.
Value SignsDiffer(Op& op, const Value& remainder, const Value& y) {
  const Value below =
      op.b.Compare("NE", op.b.Compare("LT", remainder, 0.0), op.b.Compare("LT", y, 0.0));
  return op.b.And(op.b.Compare("NE", remainder, 0.0), below);
}

Value FloorDivide(Op& op, const Value& x, const Value& y) {
  if (!IsInteger(x.dtype)) return op.b.Unary("floor", RoundedOnce(op, x, y));
  if (IsUnsignedInt(x.dtype)) return Divide(op, x, y);
  CheckDivisor(op, y);
  const Value divisor = SafeDivisor(op, y);
  const Value quotient = op.b.Div(x, divisor);
  const Value remainder = op.b.Binary("remainder", x, divisor);
  return op.b.Select(SignsDiffer(op, remainder, divisor), op.b.Sub(quotient, 1.0), quotient);
}

Value FloorRemainder(Op& op, const Value& x, const Value& y) {
  if (IsUnsignedInt(x.dtype)) return TruncateRemainder(op, x, y);
  Value divisor = y;
  if (IsInteger(x.dtype)) {
    CheckDivisor(op, y);
    divisor = SafeDivisor(op, y);
  }
  const Value remainder = op.b.Binary("remainder", x, divisor);
  return op.b.Select(SignsDiffer(op, remainder, divisor), op.b.Add(remainder, divisor), remainder);
}

// 0 where the divisor is 0.
Value DivNoNan(Op& op, const Value& x, const Value& y) {
  return op.b.Select(op.b.Compare("EQ", y, 0.0), op.b.Like(x, 0), op.b.Div(x, y));
}

Value MulNoNan(Op& op, const Value& x, const Value& y) {
  return op.b.Select(op.b.Compare("EQ", y, 0.0), op.b.Like(x, 0), op.b.Mul(x, y));
}

// x * f(y), and 0 where x is 0.
Value ZeroUnless(Op& op, const Value& x, const Value& product) {
  return op.b.Select(op.b.Compare("EQ", x, 0.0), op.b.Like(x, 0), product);
}

Value Xlogy(Op& op, const Value& x, const Value& y) {
  return ZeroUnless(op, x, op.b.Mul(x, op.b.Unary("log", y)));
}

Value Xlog1py(Op& op, const Value& x, const Value& y) {
  return ZeroUnless(op, x, op.b.Mul(x, op.b.Unary("log_plus_one", y)));
}

Value Xdivy(Op& op, const Value& x, const Value& y) { return ZeroUnless(op, x, op.b.Div(x, y)); }

Value SquaredDifference(Op& op, const Value& x, const Value& y) {
  const Value difference = op.b.Sub(x, y);
  return op.b.Mul(op.b.Conj(difference), difference);
}

Value Power(Op& op, const Value& x, const Value& y) {
  if (!IsInteger(x.dtype) || IsUnsignedInt(x.dtype)) return op.b.Binary("power", x, y);
  op.CheckAll(op.b.Compare("GE", y, 0.0), "Integers to negative integer powers are not allowed");
  return op.b.Binary("power", x, y);
}

// Shifts by more than the width are those by the width less 1.
template <OpName kSigned, OpName kUnsigned>
Value Shift(Op& op, const Value& x, const Value& y) {
  const auto width = static_cast<double>(DataTypeSize(x.dtype) * 8);
  const Value by = op.b.Min(op.b.Max(y, 0.0), width - 1);
  return op.b.Binary(IsUnsignedInt(x.dtype) ? kUnsigned.text : kSigned.text, x, by);
}

Value NextAfter(Op& op, const Value& x, const Value& y) {
  return op.b.ChloBinary("next_after", x, y);
}

absl::Status ApproximateEqual(Op& op) {
  TENON_ASSIGN_OR_RETURN(const float tolerance, op.Float("tolerance"));
  const Value difference = op.b.Unary("abs", op.b.Sub(op.In(0), op.In(1)));
  return op.Out(op.b.Compare("LE", difference, tolerance));
}

absl::Status MakeComplex(Op& op) {
  TENON_ASSIGN_OR_RETURN(const Pair pair, Operands(op));
  return op.Out(op.b.Complex(pair.x, pair.y));
}

// In TensorFlow's order, which rounding shows: the first 2 to 9 operands, then the sum of each 8
// more.
absl::Status AddN(Op& op) {
  if (op.InType(0) == DataType::kVariant) return SumOfLists(op);
  constexpr int kGroup = 8;
  const int n = op.num_inputs(), first = (n + kGroup - 2) % kGroup + 2;
  Value sum = op.In(0);
  for (int i = 1; i < std::min(first, n); ++i) sum = op.b.Add(sum, op.In(i));
  for (int begin = first; begin < n; begin += kGroup) {
    Value group = op.In(begin);
    for (int i = 1; i < kGroup; ++i) group = op.b.Add(group, op.In(begin + i));
    sum = op.b.Add(sum, group);
  }
  return op.Out(sum);
}

absl::Status SelectV2(Op& op) {
  TENON_ASSIGN_OR_RETURN(const Shape shape, op.OutShape());
  return op.Out(op.b.Select(op.b.BroadcastTo(op.In(0), shape), op.b.BroadcastTo(op.In(1), shape),
                            op.b.BroadcastTo(op.In(2), shape)));
}

// The condition of Select is of the operands' shape, a scalar, or a vector of one element for each
// row.
absl::Status Select(Op& op) {
  const Value &p = op.In(0), &x = op.In(1), &y = op.In(2);
  if (p.rank() == 1 && x.rank() > 1)
    return op.Out(op.b.Select(op.b.Broadcast(p, x.shape, {0}), x, y));
  return op.Out(op.b.Select(p, x, y));
}

// --- Gradients: of the output y, or of the input x, and of what follows.

// These two ops are not those of the conjugate: TensorFlow conjugates y before.
absl::Status TanhGrad(Op& op) {
  const Value &y = op.In(0), &dy = op.In(1);
  return op.Out(op.b.Mul(dy, op.b.Sub(op.b.Like(y, 1), op.b.Mul(y, y))));
}

absl::Status SigmoidGrad(Op& op) {
  const Value &y = op.In(0), &dy = op.In(1);
  return op.Out(op.b.Mul(op.b.Mul(dy, y), op.b.Sub(op.b.Like(y, 1), y)));
}

// A gradient of 0 stays 0, whatever it is multiplied with. Complex gradients are those of the
// conjugate.

absl::Status OutUnlessZero(Op& op, const Value& dx, const Value& dy) {
  return op.Out(op.b.Select(op.b.Compare("EQ", dy, 0.0), op.b.Like(dy, 0), dx));
}

absl::Status SqrtGrad(Op& op) {
  const Value y = op.b.Conj(op.In(0)), &dy = op.In(1);
  return OutUnlessZero(op, op.b.Div(op.b.Mul(dy, 0.5), y), dy);
}

absl::Status RsqrtGrad(Op& op) {
  const Value y = op.b.Conj(op.In(0)), &dy = op.In(1);
  return OutUnlessZero(op, op.b.Mul(op.b.Mul(op.b.Mul(dy, -0.5), y), op.b.Mul(y, y)), dy);
}

absl::Status InvGrad(Op& op) {
  const Value y = op.b.Conj(op.In(0)), &dy = op.In(1);
  return OutUnlessZero(op, op.b.Mul(op.b.Neg(dy), op.b.Mul(y, y)), dy);
}

// dy where `p`, else a product with 0: of NaN and infinity NaN, as TensorFlow's ops. XLA makes it
// 0, as in TensorFlow's compiled functions.
absl::Status OutWhere(Op& op, const Value& p, const Value& dy) {
  return op.Out(op.b.Mul(dy, op.b.Convert(p, dy.dtype)));
}

absl::Status ReluGrad(Op& op) {
  const Value &dy = op.In(0), &x = op.In(1);
  return OutWhere(op, op.b.Compare("GT", x, 0.0), dy);
}

absl::Status Relu6Grad(Op& op) {
  const Value &dy = op.In(0), &x = op.In(1);
  return OutWhere(op, op.b.And(op.b.Compare("GT", x, 0.0), op.b.Compare("LT", x, 6.0)), dy);
}

absl::Status LeakyReluGrad(Op& op) {
  TENON_ASSIGN_OR_RETURN(const float alpha, op.Float("alpha"));
  const Value &dy = op.In(0), &x = op.In(1);
  return op.Out(op.b.Select(op.b.Compare("GT", x, 0.0), dy, op.b.Mul(dy, alpha)));
}

absl::Status EluGrad(Op& op) {
  const Value &dy = op.In(0), &y = op.In(1);
  return op.Out(op.b.Select(op.b.Compare("LT", y, 0.0), op.b.Mul(op.b.Add(y, 1.0), dy), dy));
}

absl::Status SeluGrad(Op& op) {
  constexpr double kScale = 1.0507009873554804934193349852946;
  constexpr double kScaleAlpha = 1.7580993408473768599402175208123;
  const Value &dy = op.In(0), &y = op.In(1);
  return op.Out(op.b.Select(op.b.Compare("LT", y, 0.0), op.b.Mul(dy, op.b.Add(y, kScaleAlpha)),
                            op.b.Mul(dy, kScale)));
}

absl::Status SoftplusGrad(Op& op) {
  const Value &dy = op.In(0), &x = op.In(1);
  return op.Out(op.b.Div(dy, op.b.Add(op.b.Unary("exponential", op.b.Neg(x)), 1.0)));
}

absl::Status SoftsignGrad(Op& op) {
  const Value &dy = op.In(0), &x = op.In(1);
  const Value root = op.b.Add(op.b.Unary("abs", x), 1.0);
  return op.Out(op.b.Div(dy, op.b.Mul(root, root)));
}

constexpr Types kFloatsAndComplexes = kFloats | kComplexes;
constexpr Types kWithBools = kReals | kBools;

constexpr Row kRows[] = {
    {"Add", Broadcasting<Plain<"add">>, kNumbers},
    {"AddV2", Broadcasting<Plain<"add">>, kNumbers},
    {"Sub", Broadcasting<Plain<"subtract">>, kNumbers},
    {"Mul", Broadcasting<Plain<"multiply">>, kNumbers},
    {"Maximum", Broadcasting<Plain<"maximum">>, kReals},
    {"Minimum", Broadcasting<Plain<"minimum">>, kReals},
    {"Pow", Broadcasting<Power>, kNumbers},
    {"Atan2", Broadcasting<Plain<"atan2">>, kFloats},
    {"RealDiv", Broadcasting<Plain<"divide">>, kFloatsAndComplexes},
    {"Div", Broadcasting<Divide>, kNumbers},
    {"TruncateDiv", Broadcasting<TruncateDivide>, kReals},
    {"FloorDiv", Broadcasting<FloorDivide>, kReals},
    {"FloorMod", Broadcasting<FloorRemainder>, kReals},
    {"Mod", Broadcasting<TruncateRemainder>, kReals},
    {"TruncateMod", Broadcasting<TruncateRemainder>, kReals},
    {"DivNoNan", Broadcasting<DivNoNan>, kFloatsAndComplexes},
    {"MulNoNan", Broadcasting<MulNoNan>, kFloatsAndComplexes},
    {"Xlogy", Broadcasting<Xlogy>, kFloatsAndComplexes},
    {"Xlog1py", Broadcasting<Xlog1py>, kFloatsAndComplexes},
    {"Xdivy", Broadcasting<Xdivy>, kFloatsAndComplexes},
    {"SquaredDifference", Broadcasting<SquaredDifference>, kNumbers},
    {"NextAfter", Broadcasting<NextAfter>, {DataType::kFloat, DataType::kDouble}},
    {"BitwiseAnd", Broadcasting<Plain<"and">>, kInts},
    {"BitwiseOr", Broadcasting<Plain<"or">>, kInts},
    {"BitwiseXor", Broadcasting<Plain<"xor">>, kInts},
    {"LeftShift", Broadcasting<Shift<"shift_left", "shift_left">>, kInts},
    {"RightShift", Broadcasting<Shift<"shift_right_arithmetic", "shift_right_logical">>, kInts},
    {"LogicalAnd", Broadcasting<Plain<"and">>, kBools},
    {"LogicalOr", Broadcasting<Plain<"or">>, kBools},
    {"Less", Broadcasting<Comparing<"LT">>, kWithBools},
    {"LessEqual", Broadcasting<Comparing<"LE">>, kWithBools},
    {"Greater", Broadcasting<Comparing<"GT">>, kWithBools},
    {"GreaterEqual", Broadcasting<Comparing<"GE">>, kWithBools},
    {"Equal", EqualOrNot<"EQ">, kAll},
    {"NotEqual", EqualOrNot<"NE">, kAll},
    {"ApproximateEqual", ApproximateEqual, kReals | kBools},
    {"Complex", MakeComplex, kFloatsAndComplexes},
    {"AddN", AddN, kNumbers | kVariants},
    {"AccumulateNV2", AddN, kNumbers},
    {"SelectV2", SelectV2, kAll},
    {"Select", Select, kAll},
    {"TanhGrad", TanhGrad, kFloatsAndComplexes},
    {"SigmoidGrad", SigmoidGrad, kFloatsAndComplexes},
    {"SqrtGrad", SqrtGrad, kFloatsAndComplexes},
    {"RsqrtGrad", RsqrtGrad, kFloatsAndComplexes},
    {"InvGrad", InvGrad, kFloatsAndComplexes},
    {"ReciprocalGrad", InvGrad, kFloatsAndComplexes},
    {"ReluGrad", ReluGrad, kReals},
    {"Relu6Grad", Relu6Grad, kReals},
    {"LeakyReluGrad", LeakyReluGrad, kFloats},
    {"EluGrad", EluGrad, kFloats},
    {"SeluGrad", SeluGrad, kFloats},
    {"SoftplusGrad", SoftplusGrad, kFloats},
    {"SoftsignGrad", SoftsignGrad, kFloats},
};

}  // namespace
}  // namespace binary_ops

Rows BinaryRows() { return binary_ops::kRows; }

}  // namespace tenon::stablehlo
