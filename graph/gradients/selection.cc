// What goes by indices: gathers, scatters, partitions, the largest elements.
#include "graph/gradients/families.h"
#include "graph/gradients/gradient_scope.h"

namespace tenon::gradients {
namespace {

Value Int32(GradientScope& s, double n) { return s.builder().Scalar(DataType::kInt32, n); }

// --- Gathers.

// Rows of x along axis 0: the gradient has only these rows.
Slices RowsOf(GradientScope& s) {
  GraphBuilder& b = s.builder();
  const Value x = s.x(0), indices = s.x(1);
  const Value rows = Reshape(s.dy(), Concat({b.Ints({-1}), Part(ShapeOf(x), 1, -1)}, 0));
  return {rows, Reshape(indices, b.Ints({-1})), ShapeOf(x)};
}

void GatherGradient(GradientScope& s) { s.Set(0, RowsOf(s)); }

// The number of elements that axes [first, last) of x make; the axes are scalars.
Value Volume(Value x, Value first, Value last) {
  GraphBuilder& b = x.builder();
  const auto from = KnownInts(first), to = KnownInts(last);
  int64_t volume = 1;
  bool known = from && to;
  for (int64_t i = known ? from->front() : 0; known && i < to->front(); ++i) {
    known = x.shape().dim(static_cast<int>(i)) != kUnknownDim;
    volume *= x.shape().dim(static_cast<int>(i));
  }
  if (known) return b.Scalar(DataType::kInt32, static_cast<double>(volume));
  const Value sizes = Slice(ShapeOf(x), ExpandDims(first, 0), ExpandDims(last - first, 0));
  return Op("Prod", {sizes, b.Ints({0})});
}

// The axis from 0 on as an int32 scalar.
Value AxisOf(GradientScope& s) {
  const Value x = s.x(0), axis = s.x(2);
  if (const auto known = KnownInts(axis); known && (known->front() >= 0 || x.rank() >= 0))
    return Int32(s, static_cast<double>(known->front() + (known->front() < 0 ? x.rank() : 0)));
  const Value rank = RankOf(x);
  return Op("FloorMod", {Cast(axis, DataType::kInt32) + rank, rank});
}

// Gathering along any axis, in batches. x is seen as [batches, outer, size, inner], the result as
// [batches, outer, count, inner]: rows of the axis are brought to the front, where batch k has the
// rows from k * size on, summed and brought back.
Value OfGatherAlong(GradientScope& s, Value batch_dims) {
  GraphBuilder& b = s.builder();
  const Value x = s.x(0), axis = AxisOf(s), zero = Int32(s, 0), behind = axis + 1.0;
  const DataType type = s.x(1).dtype() == DataType::kInt64 ? DataType::kInt64 : DataType::kInt32;
  const Value batches = Volume(x, zero, batch_dims), outer = Volume(x, batch_dims, axis);
  const Value size = Volume(x, axis, behind), inner = Volume(x, behind, RankOf(x));
  const Value any = Int32(s, -1), swap = b.Ints({0, 2, 1, 3});
  const Value indices = Reshape(Cast(s.x(1), type), Stack({batches, any}));
  const Value first = Cast(Range(zero, batches) * size, type);
  const Value rows = Reshape(indices + ExpandDims(first, 1), b.Ints({-1}));
  const Value count = Element(ShapeOf(indices), 1);
  const Value moved = Transpose(Reshape(s.dy(), Stack({batches, outer, count, inner})), swap);
  const Value flat = Reshape(moved, Stack({batches * count, outer, inner}));
  const Value sums = Op("UnsortedSegmentSum", {flat, rows, batches * size});
  const Value back = Transpose(Reshape(sums, Stack({batches, size, outer, inner})), swap);
  return Reshape(back, ShapeOf(x));
}

void GatherV2Gradient(GradientScope& s) {
  const std::optional<std::vector<int64_t>> axis = KnownInts(s.x(2));
  if (axis && axis->front() == 0) {
    s.Set(0, RowsOf(s));
    return;
  }
  const int64_t batch_dims = s.Int("batch_dims");
  const int rank = s.x(1).rank();
  if (batch_dims < 0 && rank < 0) {
    s.Unimplemented("batch_dims below 0 with indices of unknown rank");
    return;
  }
  s.Set(0,
        OfGatherAlong(s, Int32(s, static_cast<double>(batch_dims + (batch_dims < 0 ? rank : 0)))));
}

void GatherNdGradient(GradientScope& s) {
  const Value indices = s.x(1), shape = ShapeOf(s.x(0), indices.dtype());
  if (indices.rank() == 2 && indices.shape().dim(1) == 1) {
    s.Set(0, Slices{s.dy(), Reshape(indices, s.builder().Ints({-1})), shape});
    return;
  }
  s.Set(0, Op("ScatterNd", {indices, s.dy(), shape}, s.Attrs({"bad_indices_policy"})));
}

// --- Scatters. The indices are input `at`.

Value Gathered(GradientScope& s, Value from, int at) { return Op("GatherNd", {from, s.x(at)}); }

void ScatterNdGradient(GradientScope& s) { s.Set(1, Gathered(s, s.dy(), 0)); }

void TensorScatterAddGradient(GradientScope& s) {
  s.Pass(0, 0);
  s.Set(2, Gathered(s, s.dy(), 1));
}

void TensorScatterSubGradient(GradientScope& s) {
  s.Pass(0, 0);
  s.Set(2, -Gathered(s, s.dy(), 1));
}

void TensorScatterUpdateGradient(GradientScope& s) {
  s.Set(0, Op("TensorScatterUpdate", {s.dy(), s.x(1), ZerosLike(s.x(2))}));
  s.Set(2, Gathered(s, s.dy(), 1));
}

// All that equal the result share the gradient.
void TensorScatterMaxGradient(GradientScope& s) {
  const NewAttrs policy = s.Attrs({"bad_indices_policy"});
  const Value x = s.x(0), indices = s.x(1), updates = s.x(2);
  const auto gather = [&](Value from) { return Op("GatherNd", {from, indices}, policy); };
  const auto equal = [&](Value a, Value b) { return Cast(Compare("Equal", a, b), x.dtype()); };
  const Value of_x = equal(x, s.y()), of_updates = equal(updates, gather(s.y()));
  const Value shape = ShapeOf(x, indices.dtype());
  const Value count = of_x + Op("ScatterNd", {indices, of_updates, shape}, policy);
  s.Set(0, s.dy() * of_x / count);
  s.Set(2, gather(s.dy() / count) * of_updates);
}

// --- Partitions.

// The rows' numbers are partitioned too, and say where gradients go.
Value OfDynamicPartition(GradientScope& s) {
  const Value partitions = s.x(1), count = SizeOf(partitions);
  const Value numbers = Reshape(Range(Int32(s, 0), count), ShapeOf(partitions));
  const NodeId parts =
      s.builder().AddNode("DynamicPartition", {numbers, partitions}, s.Attrs({"num_partitions"}));
  std::vector<Value> inputs;
  for (int i = 0; i < s.num_outputs(); ++i) inputs.push_back(s.builder().At(parts, i));
  for (int i = 0; i < s.num_outputs(); ++i) inputs.push_back(s.dy(i));
  return ReshapeLike(Op("ParallelDynamicStitch", inputs), s.x(0));
}

void DynamicStitchGradient(GradientScope& s) {
  const int parts = s.num_inputs() / 2;
  for (int i = 0; i < parts; ++i) s.Set(parts + i, Gather(s.dy(), s.x(i)));
}

// --- The largest elements of rows.

// dy put back into rows of the size of x's last axis, where `indices` say.
Value ScatterIntoRows(Value dy, Value indices, Value x) {
  GraphBuilder& b = x.builder();
  const auto number = [&](double n) { return b.Scalar(DataType::kInt32, n); };
  const DataType type = indices.dtype() == DataType::kInt64 ? DataType::kInt64 : DataType::kInt32;
  const Value last = RankOf(x) - 1.0;
  const Value size = Volume(x, last, RankOf(x)), rows = Volume(x, number(0), last);
  const Value within = Reshape(Cast(indices, type), Stack({rows, number(-1)}));
  const Value first = Cast(Range(number(0), rows) * size, type);
  const Value at = Reshape(within + ExpandDims(first, 1), b.Ints({-1, 1}));
  const Value total = ExpandDims(Cast(rows * size, type), 0);
  return ReshapeLike(Op("ScatterNd", {at, Reshape(dy, b.Ints({-1})), total}), x);
}

Value OfTopK(GradientScope& s) { return ScatterIntoRows(s.dy(), s.y(1), s.x(0)); }

// Along any axis: it is swapped with the last.
void ApproxTopKGradient(GradientScope& s) {
  const int rank = s.x().rank();
  if (rank < 0) {
    s.Unimplemented("an input of unknown rank");
    return;
  }
  const int64_t axis = s.Int("reduction_dimension");
  std::vector<int64_t> order(rank);
  for (int i = 0; i < rank; ++i) order[i] = i;
  std::swap(order[axis < 0 ? axis + rank : axis], order[rank - 1]);
  const Value swap = s.builder().Ints(order);
  const auto swapped = [&](Value v) { return Transpose(v, swap); };
  s.Set(0, swapped(ScatterIntoRows(swapped(s.dy()), swapped(s.y(1)), swapped(s.x()))));
}

// All that equal the element share the gradient.
Value OfNthElement(GradientScope& s) {
  const Value x = s.x(0), last = s.builder().Ints({-1});
  const Value is_chosen = Cast(Compare("Equal", ExpandDims(s.y(), -1), x), x.dtype());
  return is_chosen / Sum(is_chosen, last, /*keep_dims=*/true) * ExpandDims(s.dy(), -1);
}

constexpr GradientRow kSelection[] = {
    {"ApproxTopK", ApproxTopKGradient},
    {"DynamicPartition", Unary<OfDynamicPartition>},
    {"DynamicStitch", DynamicStitchGradient},
    {"Gather", GatherGradient},
    {"GatherNd", GatherNdGradient},
    {"GatherV2", GatherV2Gradient},
    {"InvertPermutation", nullptr},
    {"NthElement", Unary<OfNthElement>},
    {"OneHot", nullptr},
    {"ParallelDynamicStitch", DynamicStitchGradient},
    {"ScatterNd", ScatterNdGradient},
    {"ScatterNdNonAliasingAdd", TensorScatterAddGradient},
    {"TensorScatterAdd", TensorScatterAddGradient},
    {"TensorScatterMax", TensorScatterMaxGradient},
    {"TensorScatterMin", TensorScatterMaxGradient},
    {"TensorScatterSub", TensorScatterSubGradient},
    {"TensorScatterUpdate", TensorScatterUpdateGradient},
    {"TopK", Unary<OfTopK>},
    {"TopKV2", Unary<OfTopK>},
};

}  // namespace

absl::Span<const GradientRow> Selection() { return kSelection; }

}  // namespace tenon::gradients
