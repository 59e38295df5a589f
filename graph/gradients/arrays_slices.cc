// Parts of tensors: slices, splits, and tensors made of parts.
#include "graph/gradients/families.h"
#include "graph/gradients/gradient_scope.h"

namespace tenon::gradients {
namespace {

// --- Slices.

// dy between zeros, where the slice was.
Value OfSlice(GradientScope& s) {
  GraphBuilder& b = s.builder();
  const Value x = s.x(0), begin = s.x(1);
  const DataType type = begin.dtype();
  const std::optional<Shape> from = x.shape().ToShape(), part = s.y().shape().ToShape();
  const std::optional<std::vector<int64_t>> first = KnownInts(begin);
  if (from && part && first && first->size() == static_cast<size_t>(from->rank())) {
    std::vector<int64_t> paddings;
    for (int i = 0; i < from->rank(); ++i) {
      const int64_t before = (*first)[i];
      paddings.insert(paddings.end(), {before, from->dim(i) - part->dim(i) - before});
    }
    return Op("Pad", {s.dy(), b.IntMatrix(paddings, 2, type)});
  }
  const Value behind = ShapeOf(x, type) - ShapeOf(s.y(), type) - begin;
  return Op("Pad", {s.dy(), Stack({begin, behind}, 1)});
}

NewAttrs MasksOf(GradientScope& s) {
  return s.Attrs({"begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask", "shrink_axis_mask"});
}

Value OfStridedSlice(GradientScope& s) {
  const DataType type = s.x(1).dtype() == DataType::kInt64 ? DataType::kInt64 : DataType::kInt32;
  return Op(
      "StridedSliceGrad",
      {ShapeOf(s.x(0), type), Cast(s.x(1), type), Cast(s.x(2), type), Cast(s.x(3), type), s.dy()},
      MasksOf(s));
}

void StridedSliceGradGradient(GradientScope& s) {
  s.Set(4, Op("StridedSlice", {s.dy(), s.x(1), s.x(2), s.x(3)}, MasksOf(s)));
}

void TensorStridedSliceUpdateGradient(GradientScope& s) {
  const Value part = Op("StridedSlice", {s.dy(), s.x(1), s.x(2), s.x(3)}, MasksOf(s));
  s.Set(0, Op(s.op(), {s.dy(), s.x(1), s.x(2), s.x(3), ZerosLike(part)}, MasksOf(s)));
  s.Set(4, SumToShapeOf(part, s.x(4), part));
}

// --- Tensors made of parts.

// The axis of a concatenation as a number from 0 on; nullopt if it or the rank is not known.
std::optional<int> KnownAxis(Value axis, int rank) {
  const std::optional<std::vector<int64_t>> known = KnownInts(axis);
  if (!known || known->size() != 1) return std::nullopt;
  const int64_t at = known->front() < 0 && rank >= 0 ? known->front() + rank : known->front();
  if (at < 0 || (rank >= 0 && at >= rank)) return std::nullopt;
  return static_cast<int>(at);
}

// The sizes of the parts along an axis, if all are known.
std::optional<std::vector<int64_t>> KnownSizes(absl::Span<const Value> parts, int axis) {
  std::vector<int64_t> sizes;
  for (const Value& part : parts) {
    sizes.push_back(part.shape().dim(axis));
    if (sizes.back() == kUnknownDim) return std::nullopt;
  }
  return sizes;
}

// Cuts `whole`, of known rank, into parts of these sizes along an axis.
std::vector<Value> Cut(Value whole, absl::Span<const int64_t> sizes, int axis, int rank) {
  GraphBuilder& b = whole.builder();
  std::vector<int64_t> begin(rank, 0), size(rank, -1);
  std::vector<Value> parts;
  for (const int64_t of_part : sizes) {
    size[axis] = of_part;
    parts.push_back(Slice(whole, b.Ints(begin), b.Ints(size)));
    begin[axis] += of_part;
  }
  return parts;
}

// Cuts what `parts` were joined to; the axis, the rank or sizes are known only in a run.
std::vector<Value> CutLike(Value whole, absl::Span<const Value> parts, Value axis) {
  const Value at = Op("FloorMod", {Cast(axis, DataType::kInt32), RankOf(parts[0])});
  std::vector<Value> inputs = {at}, cut;
  for (const Value& part : parts) inputs.push_back(ShapeOf(part));
  const NodeId offsets = whole.builder().AddNode("ConcatOffset", inputs);
  for (size_t i = 0; i < parts.size(); ++i)
    cut.push_back(Slice(whole, whole.builder().At(offsets, static_cast<int>(i)), inputs[i + 1]));
  return cut;
}

// Slices along axis 0: those whose rows lie in [start, end).
Slices RowsWithin(const Slices& whole, Value start, Value end, Value part) {
  GraphBuilder& b = part.builder();
  const Value within = Op("LogicalAnd", {Compare("GreaterEqual", whole.indices, start),
                                         Compare("Less", whole.indices, end)});
  const Value chosen = Reshape(Op("Where", {within}), b.Ints({-1}));
  return {Gather(whole.values, chosen), Gather(whole.indices, chosen) - start, ShapeOf(part)};
}

// Sets the gradients of the parts, which begin at input `first`, from slices.
void SetSlices(GradientScope& s, absl::Span<const Value> parts, int first, int axis) {
  const Slices whole = s.slices();
  if (axis == 0) {
    Value start = Number(whole.indices, 0);
    for (size_t i = 0; i < parts.size(); ++i) {
      const Value end = start + DimOf(parts[i], 0, whole.indices.dtype());
      s.Set(first + static_cast<int>(i), RowsWithin(whole, start, end, parts[i]));
      start = end;
    }
    return;
  }
  const std::vector<int64_t> sizes = *KnownSizes(parts, axis);
  const std::vector<Value> cut = Cut(whole.values, sizes, axis, parts[0].rank());
  for (size_t i = 0; i < parts.size(); ++i)
    s.Set(first + static_cast<int>(i), Slices{cut[i], whole.indices, ShapeOf(parts[i])});
}

// `axis` is an input; the parts begin at input `first`.
void Unjoin(GradientScope& s, Value axis, absl::Span<const Value> parts, int first) {
  if (parts.size() == 1) {
    s.Pass(first, 0);
    return;
  }
  const int rank = parts[0].rank();
  const std::optional<int> at = KnownAxis(axis, rank);
  const bool known = at && rank >= 0 && KnownSizes(parts, *at);
  if (s.in_slices() && at && (*at == 0 || known)) {
    SetSlices(s, parts, first, *at);
    return;
  }
  const std::vector<Value> cut =
      known ? Cut(s.dy(), *KnownSizes(parts, *at), *at, rank) : CutLike(s.dy(), parts, axis);
  for (size_t i = 0; i < cut.size(); ++i) s.Set(first + static_cast<int>(i), cut[i]);
}

void ConcatGradient(GradientScope& s) { Unjoin(s, s.x(0), s.xs(1), 1); }

void ConcatV2Gradient(GradientScope& s) {
  std::vector<Value> parts = s.xs();
  parts.pop_back();
  Unjoin(s, s.x(s.num_inputs() - 1), parts, 0);
}

void PackGradient(GradientScope& s) {
  const int64_t parts = s.num_inputs();
  const NodeId cut = s.builder().AddNode(
      "Unpack", {s.dy()}, {{"num", attr::Int(parts)}, {"axis", attr::Int(s.Int("axis"))}});
  for (int i = 0; i < parts; ++i) s.Set(i, s.builder().At(cut, i));
}

std::vector<Value> AllGradients(GradientScope& s) {
  std::vector<Value> all;
  for (int i = 0; i < s.num_outputs(); ++i) all.push_back(s.dy(i));
  return all;
}

Value OfUnpack(GradientScope& s) { return Stack(AllGradients(s), s.Int("axis")); }

void SplitGradient(GradientScope& s) { s.Set(1, ConcatAlong(AllGradients(s), s.x(0))); }
void SplitVGradient(GradientScope& s) { s.Set(0, ConcatAlong(AllGradients(s), s.x(2))); }

constexpr GradientRow kSlices[] = {
    {"Concat", ConcatGradient},
    {"ConcatOffset", nullptr},
    {"ConcatV2", ConcatV2Gradient},
    {"Pack", PackGradient},
    {"Slice", Unary<OfSlice>},
    {"Split", SplitGradient},
    {"SplitV", SplitVGradient},
    {"StridedSlice", Unary<OfStridedSlice>},
    {"StridedSliceGrad", StridedSliceGradGradient},
    {"TensorStridedSliceUpdate", TensorStridedSliceUpdateGradient},
    {"Unpack", Unary<OfUnpack>},
};

}  // namespace

absl::Span<const GradientRow> ArraysSlices() { return kSlices; }

}  // namespace tenon::gradients
