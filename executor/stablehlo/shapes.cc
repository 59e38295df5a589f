// Ops on shapes, and ops that give another shape to the same elements.
#include "executor/stablehlo/rows.h"
#include "graph/base/status_macros.h"

namespace tenon::stablehlo {
namespace shapes_ops {
namespace {

absl::Status Identity(Op& op) {
  for (int i = 0; i < op.num_outputs(); ++i) op.Forward(i, i);
  return absl::OkStatus();
}

absl::Status Nothing(Op&) { return absl::OkStatus(); }

absl::Status Reshape(Op& op) {
  TENON_ASSIGN_OR_RETURN(const Shape shape, op.OutShape());
  if (const Tensor* known = op.Known(0)) {
    Entry& out = op.OutEntry(0);
    out.known = known->Reshaped(shape);
    return absl::OkStatus();
  }
  return op.Out(op.b.Reshape(op.In(0), shape));
}

// Shapes are known: inference gives the value, and this function runs only where it does not.
absl::Status ShapeOf(Op& op) {
  for (int i = 0; i < op.num_outputs(); ++i) {
    const Shape shape = op.InShape(i);
    TENON_RETURN_IF_ERROR(op.OutInts(i, shape.dims(), Shape({shape.rank()})));
  }
  return absl::OkStatus();
}

absl::Status Size(Op& op) { return op.OutInts(0, {op.InShape(0).num_elements()}, Shape()); }

absl::Status Rank(Op& op) { return op.OutInts(0, {op.InRank(0)}, Shape()); }

// The operands are constants, so that the kernel has computed the value already, or there is none.
absl::Status OnlyKnown(Op& op) { return op.Unimplemented("its operands must be constants"); }

absl::Status Transpose(Op& op) {
  TENON_ASSIGN_OR_RETURN(const Ints perm, op.IntsOf(1));
  const int rank = op.InRank(0);
  Ints axes;
  for (const int64_t p : perm) axes.push_back(p < 0 ? p + rank : p);
  Value x = op.b.Transpose(op.In(0), axes);
  if (op.name() == "ConjugateTranspose") x = op.b.Conj(x);
  return op.Out(x);
}

absl::Status BroadcastTo(Op& op) {
  TENON_ASSIGN_OR_RETURN(const Ints sizes, op.IntsOf(1));
  for (const int64_t size : sizes) {
    if (size < 0) return op.Invalid("a size must not be negative");
  }
  TENON_ASSIGN_OR_RETURN(const Shape shape, op.OutShape());
  return op.Out(op.b.BroadcastTo(op.In(0), shape));
}

absl::Status Fill(Op& op) {
  TENON_ASSIGN_OR_RETURN(const Shape shape, op.OutShape());
  return op.Out(op.b.Broadcast(op.In(1), shape, {}));
}

// Each axis becomes (multiple, size), then one axis again.
absl::Status Tile(Op& op) {
  TENON_ASSIGN_OR_RETURN(const Ints multiples, op.IntsOf(1));
  TENON_ASSIGN_OR_RETURN(const Shape shape, op.OutShape());
  const Value& x = op.In(0);
  if (x.shape == shape) return op.Out(x);
  Shape wide;
  Ints dims;
  for (int i = 0; i < x.rank(); ++i) {
    if (multiples[i] != 1) wide.push_back(multiples[i]);
    dims.push_back(wide.rank());
    wide.push_back(x.shape.dim(i));
  }
  return op.Out(op.b.Reshape(op.b.Broadcast(x, wide, dims), shape));
}

absl::Status OneHot(Op& op) {
  TENON_ASSIGN_OR_RETURN(const Shape shape, op.OutShape());
  TENON_ASSIGN_OR_RETURN(int64_t axis, op.Int("axis"));
  if (axis < 0) axis += shape.rank();
  const Value& indices = op.In(0);
  Ints dims;
  for (int i = 0; i < shape.rank(); ++i) {
    if (i != axis) dims.push_back(i);
  }
  const Value wide = op.b.Broadcast(indices, shape, dims);
  const Value places = op.b.Iota(indices.dtype, shape, axis);
  return op.Out(op.b.Select(op.b.Compare("EQ", wide, places), op.b.Broadcast(op.In(2), shape, {}),
                            op.b.Broadcast(op.In(3), shape, {})));
}

absl::Status Range(Op& op) {
  TENON_ASSIGN_OR_RETURN(const Shape shape, op.OutShape());
  const Value places = op.b.Iota(op.OutType(0), shape, 0);
  const Value start = op.b.Broadcast(op.In(0), shape, {}), by = op.b.Broadcast(op.In(2), shape, {});
  return op.Out(op.b.Add(start, op.b.Mul(places, by)));
}

absl::Status LinSpace(Op& op) {
  TENON_ASSIGN_OR_RETURN(const Shape shape, op.OutShape());
  const int64_t n = shape.num_elements();
  const Value start = op.In(0), stop = op.In(1);
  const Value steps = op.b.Like(start, static_cast<double>(n > 1 ? n - 1 : 1));
  const Value step = op.b.Div(op.b.Sub(stop, start), steps);
  const Value places = op.b.Iota(op.OutType(0), shape, 0);
  Value line =
      op.b.Add(op.b.Broadcast(start, shape, {}), op.b.Mul(places, op.b.Broadcast(step, shape, {})));
  // The first and the last element are the ends themselves.
  line = op.b.Select(op.b.Compare("EQ", places, 0.0), op.b.Broadcast(start, shape, {}), line);
  if (n == 1) return op.Out(line);
  const Value last = op.b.Compare("EQ", places, static_cast<double>(n - 1));
  return op.Out(op.b.Select(last, op.b.Broadcast(stop, shape, {}), line));
}

// The condition is checked; the data of the message stays out of the program.
absl::Status Assert(Op& op) {
  op.Check(op.b.Reshape(op.In(0), Shape()), "assertion failed");
  return absl::OkStatus();
}

constexpr Types kEverything = kAll | kVariants;

constexpr Row kRows[] = {
    {"Identity", Identity, kEverything},
    {"IdentityN", Identity, kEverything},
    {"Snapshot", Identity, kAll},
    {"StopGradient", Identity, kAll},
    {"PreventGradient", Identity, kAll},
    {"GuaranteeConst", Identity, kAll},
    {"EnsureShape", Identity, kAll},
    {"PlaceholderWithDefault", Identity, kAll},
    {"DeepCopy", Identity, kAll},
    {"Copy", Identity, kAll},
    {"CopyHost", Identity, kAll},
    {"DebugIdentity", Identity, kAll},
    {"DebugGradientIdentity", Identity, kAll},
    {"NoOp", Nothing, kEverything},
    {"ControlTrigger", Nothing, kEverything},
    {"Assert", Assert, kBools, 0, ~In(0)},
    {"Reshape", Reshape, kAll, In(1)},
    {"ExpandDims", Reshape, kAll, In(1)},
    {"Squeeze", Reshape, kAll},
    {"Shape", ShapeOf, kEverything, 0, 0, true},
    {"ShapeN", ShapeOf, kEverything, 0, 0, true},
    {"Size", Size, kEverything, 0, 0, true},
    {"Rank", Rank, kEverything, 0, 0, true},
    {"BroadcastArgs", OnlyKnown, kInts, In(0) | In(1)},
    {"BroadcastGradientArgs", OnlyKnown, kInts, In(0) | In(1)},
    {"ConcatOffset", OnlyKnown, kInts, ~uint64_t{0}},
    {"InvertPermutation", OnlyKnown, kInts, In(0)},
    {"ListDiff", OnlyKnown, kInts, In(0) | In(1)},
    {"Transpose", Transpose, kAll, In(1)},
    {"ConjugateTranspose", Transpose, kAll, In(1)},
    {"BroadcastTo", BroadcastTo, kAll, In(1)},
    {"Fill", Fill, kAll, In(0)},
    {"Tile", Tile, kAll, In(1)},
    {"OneHot", OneHot, kAll, In(1)},
    {"Range", Range, kReals, In(0) | In(1) | In(2)},
    {"LinSpace", LinSpace, kFloats, In(2)},
};

}  // namespace
}  // namespace shapes_ops

Rows ShapeRows() { return shapes_ops::kRows; }

}  // namespace tenon::stablehlo
