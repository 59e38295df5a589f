// Chains of Cast and Bitcast, and the order of casts and moves.
#include "grappler_lite/passes/arithmetic_optimization/patterns.h"
#include "grappler_lite/passes/arithmetic_optimization/rewrites.h"

namespace tenon::arithmetic {
namespace {

DataType From(const Graph& g, NodeId cast) { return g.input_type(cast, 0); }
DataType To(const Graph& g, NodeId cast) { return TypeOf(g, cast); }

bool IsSigned(DataType t) {
  return t == DataType::kInt8 || t == DataType::kInt16 || t == DataType::kInt32 ||
         t == DataType::kInt64;
}

// Bits of precision of a type's numbers: of an integer's magnitude, of a floating significand.
int Precision(DataType t) {
  switch (t) {
    case DataType::kHalf:
      return 11;
    case DataType::kBfloat16:
      return 8;
    case DataType::kFloat:
      return 24;
    case DataType::kDouble:
      return 53;
    default:
      return static_cast<int>(8 * DataTypeSize(t)) - IsSigned(t);
  }
}

// Whether every value of type `a` is one of type `b`.
bool Holds(DataType b, DataType a) {
  if (IsFloating(a) && IsFloating(b))
    return DataTypeSize(a) < DataTypeSize(b);  // half and bfloat16 hold none of each other
  if (!IsInteger(a)) return false;
  if (IsFloating(b)) return Precision(a) <= Precision(b) && b != DataType::kHalf;
  return IsInteger(b) && Precision(a) <= Precision(b) && (IsSigned(b) || !IsSigned(a));
}

// A cast to the type that the value has.
bool RemoveRedundantCast(Sweep& s, NodeId n) {
  const Graph& g = s.graph();
  return From(g, n) == To(g, n) && s.ReplaceBy(n, g.data_inputs(n)[0]);
}

// A cast of a cast that lost nothing is one cast, or none.
bool MergeCasts(Sweep& s, NodeId n) {
  const Graph& g = s.graph();
  const NodeId inner = Producer(s, n, 0, {"Cast"});
  if (inner == kNoNode || !Holds(To(g, inner), From(g, inner)) || BoolAttr(g, n, "Truncate"))
    return false;
  const DataType from = From(g, inner), to = To(g, n);
  const Output x = g.data_inputs(inner)[0];
  if (from == to) return s.ReplaceBy(n, x);
  // What a floating number beyond an integer's range becomes is a matter of the kernel.
  const bool was_floating = IsFloating(from) || IsFloating(To(g, inner));
  if (was_floating && !IsFloating(to) && !Holds(to, from)) return false;
  Sweep::Attrs attrs{{"SrcT", attr::Type(from)}, {"DstT", attr::Type(to)}};
  if (!s.HasKernel(n, "Cast", attrs) || !s.Allow()) return false;
  s.Become(n, "Cast", {&x, 1}, std::move(attrs));
  return true;
}

// Only the last of two bitcasts counts, where the first cannot fail and sizes tell the same shape.
bool MergeBitcasts(Sweep& s, NodeId n) {
  const Graph& g = s.graph();
  const NodeId inner = Producer(s, n, 0, {"Bitcast"});
  if (inner == kNoNode) return false;
  const DataType from = From(g, inner), to = To(g, n);
  const size_t a = DataTypeSize(from), b = DataTypeSize(To(g, inner)), c = DataTypeSize(to);
  if (!(a == b || (a > b && (c == a || c == b)))) return false;
  const Output x = g.data_inputs(inner)[0];
  if (from == to) return s.ReplaceBy(n, x);
  Sweep::Attrs attrs{{"T", attr::Type(from)}, {"type", attr::Type(to)}};
  if (!s.HasKernel(n, "Bitcast", attrs) || !s.Allow()) return false;
  s.Become(n, "Bitcast", {&x, 1}, std::move(attrs));
  return true;
}

// `outer` of `inner` of x becomes inner of outer of x: n is the outer node and becomes the inner
// op. `type` is what moves then.
bool Swap(Sweep& s, NodeId n, NodeId inner, NodeId move, DataType type) {
  const Graph& g = s.graph();
  Sweep::Attrs move_attrs = OpAttrs(g, move), cast_attrs = OpAttrs(g, move == n ? inner : n);
  PutAttr(move_attrs, "T", attr::Type(type));
  const std::string_view inner_op = g.op_name(inner), outer_op = g.op_name(n);
  if (!s.HasKernel(n, g.op_name(move), move_attrs) || !s.Allow()) return false;
  std::vector<Output> outer_inputs(g.data_inputs(n).begin(), g.data_inputs(n).end());
  std::vector<Output> inner_inputs(g.data_inputs(inner).begin(), g.data_inputs(inner).end());
  outer_inputs[0] = inner_inputs[0];
  const bool moves_first = move == n;
  inner_inputs[0] = s.Add(n, moves_first ? "moved" : "cast", outer_op, outer_inputs,
                          moves_first ? move_attrs : cast_attrs,
                          moves_first ? s.shape({n, 0}) : s.shape(inner_inputs[0]));
  s.Become(n, inner_op, inner_inputs, moves_first ? std::move(cast_attrs) : std::move(move_attrs));
  return true;
}

// What is moved is moved while it is small: before a cast to a wider type …
bool MoveBeforeWidening(Sweep& s, NodeId n) {
  const Graph& g = s.graph();
  const NodeId cast = OwnProducer(s, n, 0, {"Cast"});
  return cast != kNoNode && DataTypeSize(From(g, cast)) < DataTypeSize(To(g, cast)) &&
         Swap(s, n, cast, n, From(g, cast));
}

// … and after one to a narrower type.
bool MoveAfterNarrowing(Sweep& s, NodeId n) {
  const Graph& g = s.graph();
  const NodeId move = OwnProducer(s, n, 0, {"Transpose", "ReverseV2"});
  return move != kNoNode && DataTypeSize(To(g, n)) < DataTypeSize(From(g, n)) &&
         Swap(s, n, move, move, To(g, n));
}

constexpr Rewrite kCastsRewrites[] = {
    {"remove_redundant_cast", Exactness::kExact, RemoveRedundantCast, "Cast Bitcast"},
    {"merge_casts", Exactness::kExact, MergeCasts, "Cast"},
    {"merge_bitcasts", Exactness::kExact, MergeBitcasts, "Bitcast"},
    {"move_before_widening", Exactness::kExact, MoveBeforeWidening, "Transpose ReverseV2"},
    {"move_after_narrowing", Exactness::kExact, MoveAfterNarrowing, "Cast"},
};

}  // namespace

std::span<const Rewrite> Casts() { return kCastsRewrites; }

}  // namespace tenon::arithmetic
