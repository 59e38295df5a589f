// Operands that decide the answer, whatever the other one is: what is left of it is its shape.
#include "grappler_lite/passes/arithmetic_optimization/patterns.h"
#include "grappler_lite/passes/arithmetic_optimization/rewrites.h"

namespace tenon::arithmetic {
namespace {

// n is 0 (or 1) everywhere, if one of its operands is v everywhere and the other has n's shape.
// `like` still reads that other operand: its errors stay, and n is dead when it was.
bool DecidedBySplat(Sweep& s, NodeId n, int first, double v, std::string_view like) {
  const std::span<const Output> in = s.graph().data_inputs(n);
  for (int x = first; x < 2; ++x) {
    if (KeepsShapeAsSplat(s, in[x], in[1 - x], v) && BecomeTyped(s, n, like, {in[x]})) return true;
  }
  return false;
}

// x * 0, which is NaN for infinities and NaN, and -0 for negative numbers.
bool ZeroProduct(Sweep& s, NodeId n) { return DecidedBySplat(s, n, 0, 0, "ZerosLike"); }

// Integers have neither NaN nor a negative zero.
bool ZeroIntegerProduct(Sweep& s, NodeId n) {
  return IsInteger(TypeOf(s.graph(), n)) && ZeroProduct(s, n);
}

// x^0 is 1, also for NaN.
bool ZeroPower(Sweep& s, NodeId n) {
  const std::span<const Output> in = s.graph().data_inputs(n);
  return KeepsShapeAsSplat(s, in[0], in[1], 0) && BecomeTyped(s, n, "OnesLike", {in[0]});
}

// x op x.
bool DecidedBySameOperands(Sweep& s, NodeId n, std::string_view like) {
  const std::span<const Output> in = s.graph().data_inputs(n);
  return in[0] == in[1] && BecomeTyped(s, n, like, {in[0]});
}

// x - x, which is NaN for infinities and NaN.
bool ZeroDifference(Sweep& s, NodeId n) { return DecidedBySameOperands(s, n, "ZerosLike"); }

// Integers have no NaN.
bool ZeroIntegerDifference(Sweep& s, NodeId n) {
  return IsInteger(TypeOf(s.graph(), n)) && ZeroDifference(s, n);
}

// x / x, which is NaN for 0, infinities and NaN.
bool UnitQuotient(Sweep& s, NodeId n) {
  return IsFloating(TypeOf(s.graph(), n)) && DecidedBySameOperands(s, n, "OnesLike");
}

// x and false, x or true.
bool DecidedTruth(Sweep& s, NodeId n) {
  const Graph& g = s.graph();
  const bool decides = g.op_name(n) == "LogicalOr";
  for (int x : {0, 1}) {
    const Output operand = g.data_inputs(n)[x], constant = g.data_inputs(n)[1 - x];
    if (AllAre(s, constant, decides) && KeepsShape(s, operand, *s.ConstOf(constant)) &&
        BecomeTyped(s, n, decides ? "OnesLike" : "ZerosLike", {operand}))
      return true;
  }
  return false;
}

constexpr Rewrite kDecidedRewrites[] = {
    {"zero_integer_product", Exactness::kExact, ZeroIntegerProduct, "Mul"},
    {"zero_product", Exactness::kFastMath, ZeroProduct, "Mul"},
    {"zero_integer_difference", Exactness::kExact, ZeroIntegerDifference, "Sub"},
    {"zero_difference", Exactness::kFastMath, ZeroDifference, "Sub"},
    {"zero_power", Exactness::kExact, ZeroPower, "Pow"},
    {"unit_quotient", Exactness::kFastMath, UnitQuotient, "RealDiv Div"},
    {"decided_truth", Exactness::kExact, DecidedTruth, "LogicalAnd LogicalOr"},
};

}  // namespace

std::span<const Rewrite> Decided() { return kDecidedRewrites; }

}  // namespace tenon::arithmetic
