// Ops that undo or repeat what was done before them.
#include <vector>

#include "grappler_lite/passes/arithmetic_optimization/patterns.h"
#include "grappler_lite/passes/arithmetic_optimization/rewrites.h"

namespace tenon::arithmetic {
namespace {

// The producer of n's input that is n's own op, as Producer says.
NodeId SameOpBefore(const Sweep& s, NodeId n) { return Producer(s, n, 0, {s.graph().op_name(n)}); }

// f(f(x)) is x for every bit pattern: Neg flips a sign bit, or wraps for integers. A reciprocal
// rounds twice, so that its row is of class kFastMath.
bool RemoveInvolution(Sweep& s, NodeId n) {
  const NodeId inner = SameOpBefore(s, n);
  return inner != kNoNode && s.ReplaceBy(n, s.graph().data_inputs(inner)[0]);
}

// f(f(x)) is f(x): values of f stay as they are, NaN included. The inner node stays, so that it may
// have other readers.
bool RemoveIdempotent(Sweep& s, NodeId n) {
  const Graph& g = s.graph();
  const NodeId inner = g.data_inputs(n)[0].node;
  return g.op_name(inner) == g.op_name(n) && !s.fed(inner) && s.ReplaceBy(n, {inner, 0});
}

// f(move(f(x))) is move(x), whatever moves elements between the two.
bool RemoveInvolutionAcrossMoves(Sweep& s, NodeId n) {
  constexpr size_t kLongest = 8;
  const Graph& g = s.graph();
  std::vector<NodeId> moves;  // from n back
  for (NodeId at = n; moves.size() < kLongest;) {
    const NodeId before =
        OwnProducer(s, at, 0, {"Reshape", "Transpose", "Squeeze", "ExpandDims", g.op_name(n)});
    if (before == kNoNode) return false;
    if (g.op_name(before) != g.op_name(n)) {
      moves.push_back(at = before);
      continue;
    }
    if (moves.empty() || !s.Allow()) return false;
    Output x = g.data_inputs(before)[0];
    for (size_t i = moves.size(); i-- > 0;) {
      const NodeId move = moves[i];
      std::vector<Output> inputs(g.data_inputs(move).begin(), g.data_inputs(move).end());
      inputs[0] = x;
      const std::string_view op = g.op_name(move);
      if (i == 0) {
        s.Become(n, op, inputs, OpAttrs(g, move));
      } else {
        x = s.Add(n, "moved", op, inputs, OpAttrs(g, move), s.shape({move, 0}));
      }
    }
    return true;
  }
  return false;
}

// -x| is |x|, (-x)^2 and |x|^2 are x^2, for integers too, which wrap. |x|^2 of a complex x is
// another number than x^2.
bool RemoveSign(Sweep& s, NodeId n) {
  const Graph& g = s.graph();
  const bool is_complex = IsComplex(TypeOf(g, n));
  NodeId inner = Producer(s, n, 0, {"Neg"});
  if (inner == kNoNode && !is_complex) inner = Producer(s, n, 0, {"Abs"});
  if (inner == kNoNode || g.op_name(n) == g.op_name(inner) || !s.Allow()) return false;
  s.SetInput(n, 0, g.data_inputs(inner)[0]);
  return true;
}

// x + (-y) and (-y) + x are x - y: IEEE arithmetic defines differences so, and integers wrap alike.
bool AddOfNegToSub(Sweep& s, NodeId n) {
  const Graph& g = s.graph();
  for (int i : {1, 0}) {
    const NodeId neg = Producer(s, n, i, {"Neg"});
    if (neg != kNoNode &&
        BecomeTyped(s, n, "Sub", {g.data_inputs(n)[1 - i], g.data_inputs(neg)[0]}))
      return true;
  }
  return false;
}

// x - (-y) is x + y.
bool SubOfNegToAdd(Sweep& s, NodeId n) {
  const Graph& g = s.graph();
  const NodeId neg = Producer(s, n, 1, {"Neg"});
  return neg != kNoNode && BecomeTyped(s, n, "AddV2", {g.data_inputs(n)[0], g.data_inputs(neg)[0]});
}

// (-x) * (-y) is x * y, and so for quotients, both of floating type: the sign is all that changes.
// The least integer is its own negative, so that quotients of integers may differ.
bool RemoveTwoSigns(Sweep& s, NodeId n) {
  const Graph& g = s.graph();
  if (!IsFloating(TypeOf(g, n))) return false;
  const NodeId x = Producer(s, n, 0, {"Neg"}), y = Producer(s, n, 1, {"Neg"});
  if (x == kNoNode || y == kNoNode || !s.Allow()) return false;
  s.SetInput(n, 0, g.data_inputs(x)[0]);
  s.SetInput(n, 1, g.data_inputs(y)[0]);
  return true;
}

// -(x - y) is y - x, but for the sign of a difference of equals: zero.
bool SwapDifference(Sweep& s, NodeId n) {
  const Graph& g = s.graph();
  const NodeId sub = OwnProducer(s, n, 0, {"Sub"});
  return sub != kNoNode && BecomeTyped(s, n, "Sub", {g.data_inputs(sub)[1], g.data_inputs(sub)[0]});
}

// Integers wrap and have one zero, so that this is exact.
bool SwapIntegerDifference(Sweep& s, NodeId n) {
  return IsInteger(TypeOf(s.graph(), n)) && SwapDifference(s, n);
}

struct Comparison {
  std::string_view op, opposite;
  bool of_numbers;  // NaN is neither less nor greater
};
constexpr Comparison kComparisons[] = {
    {"Equal", "NotEqual", false},   {"NotEqual", "Equal", false},   {"Less", "GreaterEqual", true},
    {"LessEqual", "Greater", true}, {"Greater", "LessEqual", true}, {"GreaterEqual", "Less", true},
};

// not (x == y) is x != y; not (x < y) is x >= y where there is no NaN.
bool RemoveLogicalNot(Sweep& s, NodeId n) {
  const Graph& g = s.graph();
  const NodeId inner = Producer(s, n, 0);
  if (inner == kNoNode) return false;
  for (const Comparison& c : kComparisons) {
    if (g.op_name(inner) != c.op || (c.of_numbers && !IsInteger(g.input_type(inner, 0)))) continue;
    Sweep::Attrs attrs = OpAttrs(g, inner);
    if (!s.HasKernel(n, c.opposite, attrs) || !s.Allow()) return false;
    s.Become(n, c.opposite, g.data_inputs(inner), std::move(attrs));
    return true;
  }
  return false;
}

constexpr Rewrite kInversePairsRewrites[] = {
    {"remove_involution", Exactness::kExact, RemoveInvolution, "Neg LogicalNot Invert Conj"},
    {"remove_involution_across_moves", Exactness::kExact, RemoveInvolutionAcrossMoves,
     "Neg LogicalNot Invert Conj"},
    {"remove_double_reciprocal", Exactness::kFastMath, RemoveInvolution, "Reciprocal Inv"},
    {"remove_idempotent", Exactness::kExact, RemoveIdempotent,
     "Relu Relu6 Abs Floor Ceil Rint Round Sign"},
    {"remove_sign", Exactness::kExact, RemoveSign, "Abs Square"},
    {"add_of_neg_to_sub", Exactness::kExact, AddOfNegToSub, "Add AddV2"},
    {"sub_of_neg_to_add", Exactness::kExact, SubOfNegToAdd, "Sub"},
    {"remove_two_signs", Exactness::kExact, RemoveTwoSigns, "Mul Div RealDiv"},
    {"swap_integer_difference", Exactness::kExact, SwapIntegerDifference, "Neg"},
    {"swap_difference", Exactness::kFastMath, SwapDifference, "Neg"},
    {"remove_logical_not", Exactness::kExact, RemoveLogicalNot, "LogicalNot"},
};

}  // namespace

std::span<const Rewrite> InversePairs() { return kInversePairsRewrites; }

}  // namespace tenon::arithmetic
