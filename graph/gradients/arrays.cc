// Shapes: reshaping, reordering, repeating, padding. What takes parts of tensors stands in
// arrays_slices.cc, diagonals in arrays_diagonals.cc.
#include "graph/gradients/families.h"
#include "graph/gradients/gradient_scope.h"

namespace tenon::gradients {
namespace {

Value OfReshape(GradientScope& s) { return ReshapeLike(s.dy(), s.x()); }

Value OfTranspose(GradientScope& s) {
  return Op(s.op(), {s.dy(), Op("InvertPermutation", {s.x(1)})});
}

Value OfBroadcastTo(GradientScope& s) {
  if (const std::optional<Shape> shape = s.y().shape().ToShape())
    return SumFromShape(s.dy(), s.x(), s.builder().Ints(shape->dims(), s.x(1).dtype()));
  return SumFromShape(s.dy(), s.x(), s.x(1));
}

void FillGradient(GradientScope& s) { s.Set(1, Sum(s.dy(), AllAxes(s.dy()))); }

// Each axis is split into copies and what is copied; copies are summed.
Value OfTile(GradientScope& s) {
  GraphBuilder& b = s.builder();
  const Value x = s.x(0), multiples = s.x(1);
  const std::optional<std::vector<int64_t>> times = KnownInts(multiples);
  const std::optional<Shape> shape = x.shape().ToShape();
  if (times && shape && times->size() == static_cast<size_t>(shape->rank())) {
    std::vector<int64_t> split, copies;
    for (int i = 0; i < shape->rank(); ++i) {
      copies.push_back(2 * int64_t{i});
      split.insert(split.end(), {(*times)[i], shape->dim(i)});
    }
    return Sum(Reshape(s.dy(), b.Ints(split)), b.Ints(copies));
  }
  const DataType type = multiples.dtype();
  const Value split = Reshape(Stack({multiples, ShapeOf(x, type)}, 1), b.Ints({-1}));
  const auto number = [&](double n) { return b.Scalar(DataType::kInt32, n); };
  const Value copies = Op("Range", {number(0), 2.0 * RankOf(x), number(2)});
  return ReshapeLike(Sum(Reshape(s.dy(), split), copies), x);
}

// The part of dy that x became.
Value OfPad(GradientScope& s) {
  GraphBuilder& b = s.builder();
  const Value x = s.x(0), paddings = s.x(1), size = ShapeOf(x, paddings.dtype());
  if (const std::optional<std::vector<int64_t>> known = KnownInts(paddings)) {
    std::vector<int64_t> before;
    for (size_t i = 0; i < known->size(); i += 2) before.push_back((*known)[i]);
    return Slice(s.dy(), b.Ints(before, paddings.dtype()), size);
  }
  const Value before = Slice(paddings, b.Ints({0, 0}), b.Ints({-1, 1}));
  return Slice(s.dy(), Reshape(before, b.Ints({-1})), size);
}

Value OfMirrorPad(GradientScope& s) {
  return Op("MirrorPadGrad", {s.dy(), s.x(1)}, s.Attrs({"mode"}));
}

Value OfMirrorPadGrad(GradientScope& s) {
  return Op("MirrorPad", {s.dy(), s.x(1)}, s.Attrs({"mode"}));
}

// Ops that are their own inverse: the same op, with the same other inputs and attributes.
Value SameOfGradient(GradientScope& s) {
  std::vector<Value> inputs = s.xs();
  inputs[0] = s.dy();
  return Op(s.op(), inputs, s.AllAttrs());
}

Value OfRoll(GradientScope& s) { return Op("Roll", {s.dy(), -s.x(1), s.x(2)}); }

// Ops whose inverse is another op with the same other inputs and attributes.
template <const char* kInverse>
Value InverseOfGradient(GradientScope& s) {
  std::vector<Value> inputs = s.xs();
  inputs[0] = s.dy();
  return Op(kInverse, inputs, s.AllAttrs());
}
constexpr char kBatchToSpace[] = "BatchToSpace", kBatchToSpaceND[] = "BatchToSpaceND",
               kSpaceToBatch[] = "SpaceToBatch", kSpaceToBatchND[] = "SpaceToBatchND",
               kSpaceToDepth[] = "SpaceToDepth", kDepthToSpace[] = "DepthToSpace";

constexpr GradientRow kArrays[] = {
    {"BatchToSpace", Unary<InverseOfGradient<kSpaceToBatch>>},
    {"BatchToSpaceND", Unary<InverseOfGradient<kSpaceToBatchND>>},
    {"BroadcastArgs", nullptr},
    {"BroadcastGradientArgs", nullptr},
    {"BroadcastTo", Unary<OfBroadcastTo>},
    {"ConjugateTranspose", Unary<OfTranspose>},
    {"DepthToSpace", Unary<InverseOfGradient<kSpaceToDepth>>},
    {"ExpandDims", Unary<OfReshape>},
    {"Fill", FillGradient},
    {"LinSpace", nullptr},
    {"MirrorPad", Unary<OfMirrorPad>},
    {"MirrorPadGrad", Unary<OfMirrorPadGrad>},
    {"Pad", Unary<OfPad>},
    {"PadV2", Unary<OfPad>},
    {"Range", nullptr},
    {"Rank", nullptr},
    {"Reshape", Unary<OfReshape>},
    {"Reverse", Unary<SameOfGradient>},
    {"ReverseSequence", Unary<SameOfGradient>},
    {"ReverseV2", Unary<SameOfGradient>},
    {"Roll", Unary<OfRoll>},
    {"Shape", nullptr},
    {"ShapeN", nullptr},
    {"Size", nullptr},
    {"SpaceToBatch", Unary<InverseOfGradient<kBatchToSpace>>},
    {"SpaceToBatchND", Unary<InverseOfGradient<kBatchToSpaceND>>},
    {"SpaceToDepth", Unary<InverseOfGradient<kDepthToSpace>>},
    {"Squeeze", Unary<OfReshape>},
    {"Tile", Unary<OfTile>},
    {"Transpose", Unary<OfTranspose>},
};

}  // namespace

absl::Span<const GradientRow> Arrays() { return kArrays; }

}  // namespace tenon::gradients
