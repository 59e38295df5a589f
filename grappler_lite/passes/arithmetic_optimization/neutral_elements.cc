// Operands that change nothing.
#include <cmath>
#include <cstdint>
#include <vector>

#include "grappler_lite/passes/arithmetic_optimization/patterns.h"
#include "grappler_lite/passes/arithmetic_optimization/rewrites.h"

namespace tenon::arithmetic {
namespace {

// n = x op c with every element of c equal to v: n is x, bit for bit, whatever x holds: x * 1, x /
// 1 and Pow(x, 1) keep NaN and the sign of 0. A c of a larger shape would broadcast x: then n
// stays.
bool RemoveNeutral(Sweep& s, NodeId n, int x, double v) {
  const Graph& g = s.graph();
  const Output operand = g.data_inputs(n)[x];
  return KeepsShapeAsSplat(s, operand, g.data_inputs(n)[1 - x], v) && s.ReplaceBy(n, operand);
}

bool RemoveMulByOne(Sweep& s, NodeId n) {
  return RemoveNeutral(s, n, 0, 1) || RemoveNeutral(s, n, 1, 1);
}

// Whether operand i of n is `v` everywhere and has the shape of operand x, though nobody knows it,
// and nothing is waited for that x does not wait for.
bool IsNeutralFill(const Sweep& s, NodeId n, int i, int x, double v) {
  const Graph& g = s.graph();
  const Output operand = g.data_inputs(n)[x];
  const NodeId fill = Producer(s, n, i, {"Fill", "OnesLike", "ZerosLike"});
  if (fill == kNoNode) return false;
  Output like = g.data_inputs(fill)[0];
  if (g.op_name(fill) == "Fill") {
    const NodeId shape = Producer(s, fill, 0, {"Shape"});
    const std::optional<double> value = s.SplatOf(g.data_inputs(fill)[1]);
    // -0 equals 0, but x - (-0) makes +0 of -0.
    if (shape == kNoNode || value != v || std::signbit(*value)) return false;
    like = g.data_inputs(shape)[0];
  } else if ((g.op_name(fill) == "OnesLike") != (v == 1)) {
    return false;
  }
  return like == operand || (s.SameShape(like, operand) && CannotStopBut(s, {&like, 1}, operand));
}

// x * ones_like(x), x / ones_like(x), x - zeros_like(x). n becomes an Identity; ReplaceBy would
// refuse, as it does not see that the fill waits for no more than x.
bool RemoveNeutralFill(Sweep& s, NodeId n) {
  const Graph& g = s.graph();
  const bool product = g.op_name(n) == "Mul", difference = g.op_name(n) == "Sub";
  if (s.ReadsReference(n)) return false;
  for (int x : {0, 1}) {
    if (x == 1 && !product) break;
    if (IsNeutralFill(s, n, 1 - x, x, difference ? 0 : 1) &&
        BecomeTyped(s, n, "Identity", {g.data_inputs(n)[x]}))
      return true;
  }
  return false;
}

// A product with ones only gives x another shape, which BroadcastTo does without arithmetic. All
// shapes must be known: the new one becomes a constant.
bool MulByOnesToBroadcast(Sweep& s, NodeId n) {
  const Graph& g = s.graph();
  const std::optional<Shape> shape = s.shape({n, 0}).ToShape();
  if (!shape) return false;
  for (const int64_t size : shape->dims()) {
    if (size > INT32_MAX) return false;  // the constant is of int32
  }
  Sweep::Attrs attrs = TypeAttr(TypeOf(g, n));
  attrs.push_back({"Tidx", attr::Type(DataType::kInt32)});
  for (int i : {0, 1}) {
    const Output x = g.data_inputs(n)[i];
    if (!s.shape(x).fully_defined() || s.shape(x) == *shape ||
        !s.IsSplat(g.data_inputs(n)[1 - i], 1))
      continue;
    if (!s.HasKernel(n, "BroadcastTo", attrs) || !s.HasConstKernel(n, DataType::kInt32) ||
        !s.Allow())
      return false;
    const std::vector<int64_t> dims(shape->dims().begin(), shape->dims().end());
    const Output inputs[] = {x, s.AddConst(n, "shape", IntVector(dims))};
    s.Become(n, "BroadcastTo", inputs, std::move(attrs));
    return true;
  }
  return false;
}

// x/1 and Pow(x, 1).
bool RemoveSecondOne(Sweep& s, NodeId n) { return RemoveNeutral(s, n, 0, 1); }

// The sign of every zero in a floating constant: +1, -1, or 0 when they differ or it is not one.
int SignOfZeros(const Sweep& s, Output o) {
  const std::optional<Sweep::Splat> splat = s.FindSplat(o);
  if (!splat || splat->value != 0 || !splat->same_bits) return 0;
  if (!IsFloating(BaseType(s.graph().output_type(o)))) return 0;
  return std::signbit(splat->value) ? -1 : 1;
}

// x - (+0) is x for every x; x - (-0) turns -0 into +0. Integers have one zero.
bool RemoveSubZero(Sweep& s, NodeId n) {
  const Graph& g = s.graph();
  return (IsInteger(TypeOf(g, n)) || SignOfZeros(s, g.data_inputs(n)[1]) > 0) &&
         RemoveNeutral(s, n, 0, 0);
}

// x + (-0) is x for every x; x + (+0) turns -0 into +0, so it is dropped for integers only.
bool RemoveAddZero(Sweep& s, NodeId n) {
  const Graph& g = s.graph();
  for (int x : {0, 1}) {
    if ((IsInteger(TypeOf(g, n)) || SignOfZeros(s, g.data_inputs(n)[1 - x]) < 0) &&
        RemoveNeutral(s, n, x, 0))
      return true;
  }
  return false;
}

// x + (+0), which gives +0 for -0.
bool RemoveAddPositiveZero(Sweep& s, NodeId n) {
  return RemoveNeutral(s, n, 0, 0) || RemoveNeutral(s, n, 1, 0);
}

// x and true, x or false.
bool RemoveNeutralTruth(Sweep& s, NodeId n) {
  const Graph& g = s.graph();
  const bool neutral = g.op_name(n) == "LogicalAnd";
  for (int x : {0, 1}) {
    const Output operand = g.data_inputs(n)[x], constant = g.data_inputs(n)[1 - x];
    if (AllAre(s, constant, neutral) && KeepsShape(s, operand, *s.ConstOf(constant)) &&
        s.ReplaceBy(n, operand))
      return true;
  }
  return false;
}

// A choice that is made already is what was chosen, where that needs no broadcast, and where what
// was not chosen fits and cannot fail.
bool RemoveDecidedSelect(Sweep& s, NodeId n) {
  const std::span<const Output> in = s.graph().data_inputs(n);
  for (bool choice : {true, false}) {
    if (!AllAre(s, in[0], choice)) continue;
    const Output chosen = in[choice ? 1 : 2], other = in[choice ? 2 : 1];
    const PartialShape& shape = s.shape(chosen);
    const bool fits = s.graph().op_name(n) == "Select" ? s.shape(other) == shape
                                                       : BroadcastsInto(s.shape(other), shape);
    return shape.fully_defined() && s.shape({n, 0}) == shape && fits &&
           CannotStop(s, {&other, 1}) && s.ReplaceBy(n, chosen);
  }
  return false;
}

constexpr Rewrite kNeutralElementsRewrites[] = {
    {"remove_mul_by_one", Exactness::kExact, RemoveMulByOne, "Mul"},
    {"remove_neutral_fill", Exactness::kExact, RemoveNeutralFill, "Mul RealDiv Div Sub"},
    {"mul_by_ones_to_broadcast", Exactness::kExact, MulByOnesToBroadcast, "Mul"},
    {"remove_div_by_one", Exactness::kExact, RemoveSecondOne, "RealDiv Div"},
    {"remove_pow_one", Exactness::kExact, RemoveSecondOne, "Pow"},
    {"remove_sub_zero", Exactness::kExact, RemoveSubZero, "Sub"},
    {"remove_add_zero", Exactness::kExact, RemoveAddZero, "Add AddV2"},
    {"remove_add_positive_zero", Exactness::kFastMath, RemoveAddPositiveZero, "Add AddV2"},
    {"remove_neutral_truth", Exactness::kExact, RemoveNeutralTruth, "LogicalAnd LogicalOr"},
    {"remove_decided_select", Exactness::kExact, RemoveDecidedSelect, "Select SelectV2"},
};

}  // namespace

std::span<const Rewrite> NeutralElements() { return kNeutralElementsRewrites; }

}  // namespace tenon::arithmetic
