// Ops that move no element, and copies that a broadcast makes unnecessary.
#include <bitset>

#include "grappler_lite/passes/arithmetic_optimization/patterns.h"
#include "grappler_lite/passes/arithmetic_optimization/rewrites.h"

namespace tenon::arithmetic {
namespace {

// Whether Reshape n, which shapes tell its sizes, asks in every run for as many elements as it
// gets, and no more is waited for than those.
bool FitsBySizes(const Sweep& s, NodeId n) {
  const Graph& g = s.graph();
  if (g.op_name(n) != "Reshape" || s.IsFree(g.data_inputs(n)[1])) return false;
  const std::optional<std::vector<Output>> told_by = s.ReshapeFits(n);
  return told_by && CannotStopBut(s, *told_by, g.data_inputs(n)[0]);
}

// Ops that only give the elements another shape, or move none, when the shape stays.
bool RemoveRedundantReshape(Sweep& s, NodeId n) {
  const Graph& g = s.graph();
  const Output x = g.data_inputs(n)[0];
  return SameShape(s.shape(x), s.shape({n, 0})) && ShapeOpCannotFail(s, n) && s.ReplaceBy(n, x);
}

// A Reshape to sizes that x has anyway, though nobody knows them.
bool RemoveReshapeToOwnSizes(Sweep& s, NodeId n) {
  const Output x = s.graph().data_inputs(n)[0];
  return !s.ReadsReference(n) && s.SameShape(x, {n, 0}) && FitsBySizes(s, n) &&
         BecomeTyped(s, n, "Identity", {x});
}

// Only the last of two reshapes counts, since neither moves elements. The first must be known to
// succeed: its error would be lost.
bool MergeReshapes(Sweep& s, NodeId n) {
  const NodeId inner = Producer(s, n, 0, {"Reshape", "Squeeze", "ExpandDims"});
  if (inner == kNoNode) return false;
  const bool fits = RestIsConst(s, inner) ? ShapeOpCannotFail(s, inner) : FitsBySizes(s, inner);
  if (!fits || !s.Allow()) return false;
  s.SetInput(n, 0, s.graph().data_inputs(inner)[0]);
  return true;
}

// Whether what n gives has the shape that `x` had before `first` gave it another, in every run. A
// Reshape to it fails no more than there are other elements.
bool RestoresShape(const Sweep& s, NodeId n, NodeId first) {
  const Graph& g = s.graph();
  return RestIsConst(s, first) && RestIsConst(s, n) && ShapeOpCannotFail(s, first) &&
         (g.op_name(n) == "Reshape" || ShapeOpCannotFail(s, n)) &&
         SameShape(s.shape(g.data_inputs(first)[0]), s.shape({n, 0}));
}

// Squeeze(ExpandDims(x)) and the like.
bool CancelReshapes(Sweep& s, NodeId n) {
  const NodeId inner = Producer(s, n, 0, {"Reshape", "Squeeze", "ExpandDims"});
  return inner != kNoNode && RestoresShape(s, n, inner) &&
         s.ReplaceBy(n, s.graph().data_inputs(inner)[0]);
}

// reshape(f(reshape(x))) is f(x) where f looks at single elements and the shape is x's.
bool CancelReshapesAroundUnary(Sweep& s, NodeId n) {
  const std::optional<UnaryChain> chain =
      UnaryChainBehind(s, n, {"Reshape", "Squeeze", "ExpandDims"});
  if (!chain || !RestoresShape(s, n, chain->start) || !s.Allow()) return false;
  BecomeChain(s, n, chain->ops, s.graph().data_inputs(chain->start)[0]);
  return true;
}

// Data movement that, on fully known shapes, moves nothing. PadV2 refuses a padding value that is
// no scalar.
bool RemoveFullSlice(Sweep& s, NodeId n) {
  const Graph& g = s.graph();
  if (!RestIsConst(s, n)) return false;
  if (g.op_name(n) == "PadV2" && s.shape(g.data_inputs(n)[2]) != Shape()) return false;
  const Output x = g.data_inputs(n)[0];
  const std::optional<Shape> in = s.shape(x).ToShape();
  const std::optional<Shape> out = s.shape({n, 0}).ToShape();
  return in && out && *in == *out && in->num_elements() > 0 && s.ReplaceBy(n, x);
}

// Whether `o` is a constant of this shape in which every element is `v`.
bool IsSplatOf(const Sweep& s, Output o, const Shape& shape, double v) {
  return s.shape(o) == shape && s.IsSplat(o, v);
}

// Data movement that says itself that it moves nothing, whatever the sizes are: it pads by 0,
// repeats once, slices all from the start, or gives x the shape of x.
bool RemoveIdleMove(Sweep& s, NodeId n) {
  const Graph& g = s.graph();
  const std::string_view op = g.op_name(n);
  const Output x = g.data_inputs(n)[0], how = g.data_inputs(n)[1];
  if (op == "Reshape" || op == "BroadcastTo") {
    const NodeId shape = Producer(s, n, 1, {"Shape"});
    return shape != kNoNode && g.data_inputs(shape)[0] == x && s.ReplaceBy(n, x);
  }
  const int64_t rank = s.shape(x).rank();
  if (rank <= 0) return false;
  const bool idle = op == "Pad"    ? IsSplatOf(s, how, Shape({rank, 2}), 0)
                    : op == "Tile" ? IsSplatOf(s, how, Shape({rank}), 1)
                                   : IsSplatOf(s, how, Shape({rank}), 0) &&
                                         IsSplatOf(s, g.data_inputs(n)[2], Shape({rank}), -1);
  return idle && s.ReplaceBy(n, x);
}

// A reversal of no dimensions, or of such as hold one element at most.
bool RemoveIdleReverse(Sweep& s, NodeId n) {
  const Graph& g = s.graph();
  const Output x = g.data_inputs(n)[0];
  const int rank = s.shape(x).rank();
  const std::optional<Tensor> axes = s.ConstOf(g.data_inputs(n)[1], kMaxRank);
  if (rank < 0 || !axes || !IsInteger(axes->dtype())) return false;
  std::bitset<kMaxRank> seen;  // none may be named twice
  for (int64_t i = 0; i < axes->num_elements(); ++i) {
    const std::optional<int64_t> axis = IndexOf(axes->IntAt(i), rank);
    const int64_t size = axis ? s.shape(x).dim(static_cast<int>(*axis)) : -1;
    if (size < 0 || size > 1 || seen[*axis]) return false;
    seen.set(*axis);
  }
  return s.ReplaceBy(n, x);
}

// x[:, …] that takes everything. Steps of one and equal sizes leave no other beginning.
bool RemoveFullStridedSlice(Sweep& s, NodeId n) {
  const Graph& g = s.graph();
  const Output x = g.data_inputs(n)[0];
  const std::optional<Shape> in = s.shape(x).ToShape();
  const std::optional<Shape> out = s.shape({n, 0}).ToShape();
  return in && out && *in == *out && in->num_elements() > 0 && RestIsConst(s, n) &&
         IntAttr(g, n, "new_axis_mask") == 0 && IntAttr(g, n, "shrink_axis_mask") == 0 &&
         s.IsSplat(g.data_inputs(n)[3], 1) && s.ReplaceBy(n, x);
}

// What is copied to a shape that the other operand has anyway: BroadcastTo(x, …) + y is x + y,
// since the sum broadcasts x itself, without a copy. Another operand must have the full shape, or
// the result would become smaller.
bool RemoveRedundantBroadcast(Sweep& s, NodeId n) {
  const Graph& g = s.graph();
  for (int i = 0; i < g.num_inputs(n); ++i) {
    const NodeId copy = Producer(s, n, i, {"BroadcastTo", "Fill"});
    if (copy == kNoNode) continue;
    const int from = g.op_name(copy) == "Fill" ? 1 : 0;
    const Output x = g.data_inputs(copy)[from];
    if (!s.IsFree(g.data_inputs(copy)[1 - from]) || !s.shape({copy, 0}).fully_defined() ||
        !BroadcastsInto(s.shape(x), s.shape({copy, 0})))
      continue;
    const auto covers = [&](int j) {
      return j != i && s.shape(g.data_inputs(n)[j]).fully_defined() &&
             BroadcastsInto(s.shape({copy, 0}), s.shape(g.data_inputs(n)[j]));
    };
    if (!(covers(0) || covers(1) || (g.num_inputs(n) == 3 && covers(2))) || !s.Allow()) continue;
    s.SetInput(n, i, x);
    return true;
  }
  return false;
}

constexpr Rewrite kReshapesRewrites[] = {
    {"remove_redundant_reshape", Exactness::kExact, RemoveRedundantReshape,
     "Reshape Squeeze ExpandDims EnsureShape"},
    {"remove_reshape_to_own_sizes", Exactness::kExact, RemoveReshapeToOwnSizes, "Reshape"},
    {"merge_reshapes", Exactness::kExact, MergeReshapes, "Reshape"},
    {"cancel_reshapes", Exactness::kExact, CancelReshapes, "Reshape Squeeze ExpandDims"},
    {"cancel_reshapes_around_unary", Exactness::kExact, CancelReshapesAroundUnary,
     "Reshape Squeeze ExpandDims"},
    {"remove_full_slice", Exactness::kExact, RemoveFullSlice,
     "Slice Pad PadV2 MirrorPad Tile BroadcastTo"},
    {"remove_idle_move", Exactness::kExact, RemoveIdleMove, "Slice Pad Tile BroadcastTo Reshape"},
    {"remove_idle_reverse", Exactness::kExact, RemoveIdleReverse, "ReverseV2"},
    {"remove_full_strided_slice", Exactness::kExact, RemoveFullStridedSlice, "StridedSlice"},
    {"remove_redundant_broadcast", Exactness::kExact, RemoveRedundantBroadcast,
     "Add AddV2 Sub Mul Div RealDiv DivNoNan MulNoNan Maximum Minimum SquaredDifference Greater "
     "GreaterEqual Less LessEqual Equal NotEqual LogicalAnd LogicalOr SelectV2"},
};

}  // namespace

std::span<const Rewrite> Reshapes() { return kReshapesRewrites; }

}  // namespace tenon::arithmetic
