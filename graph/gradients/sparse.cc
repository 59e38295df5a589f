// Sparse tensors: the gradient of their values, given at the same indices.
#include "graph/gradients/families.h"
#include "graph/gradients/gradient_scope.h"
#include "graph/gradients/matrices.h"

namespace tenon::gradients {
namespace {

// --- Values that are moved, chosen, added.

// The numbers of the values are sorted too, and say where gradients go.
void SparseReorderGradient(GradientScope& s) {
  const Value indices = s.x(0), count = DimOf(indices, 0);
  const NodeId sorted =
      s.builder().AddNode("SparseReorder", {indices, Range(Number(count, 0), count), s.x(2)});
  s.Set(1, Gather(s.dy(1), Op("InvertPermutation", {s.builder().At(sorted, 1)})));
}

void SparseAddGradient(GradientScope& s) {
  const NodeId both = s.builder().AddNode("SparseAddGrad", {s.dy(1), s.x(0), s.x(3), s.y(0)});
  s.Set(1, s.builder().At(both, 0));
  s.Set(4, s.builder().At(both, 1));
}

void SparseSliceGradient(GradientScope& s) {
  s.Set(1, Op("SparseSliceGrad", {s.dy(1), s.x(0), s.x(3), s.y(0)}));
}

void SparseFillEmptyRowsGradient(GradientScope& s) {
  const NodeId both = s.builder().AddNode("SparseFillEmptyRowsGrad", {s.y(3), s.dy(1)});
  s.Set(1, s.builder().At(both, 0));
  s.Set(3, s.builder().At(both, 1));
}

// --- Sparse and dense tensors.

Value GatherAt(Value dense, Value indices) { return Op("GatherNd", {dense, indices}); }

void SparseTensorDenseAddGradient(GradientScope& s) {
  s.Set(1, GatherAt(s.dy(), s.x(0)));
  s.Set(3, s.dy());
}

// Indices may be a vector, or one number, for a vector; values may be one number for all.
void SparseToDenseGradient(GradientScope& s) {
  Value indices = s.x(0);
  if (indices.rank() != 2) {
    const Value rank = ExpandDims(SizeOf(s.x(1)), 0);
    indices = Reshape(indices, Concat({s.builder().Ints({-1}), rank}, 0));
  }
  const Value at = GatherAt(s.dy(), indices);
  const auto sum = [](Value x) { return Sum(x, AllAxes(x)); };
  s.Set(2, s.x(2).rank() == 1 ? at : SumToShapeOf(at, s.x(2), at));
  s.Set(3, sum(s.dy()) - sum(at));
}

// A row of `indices` of the product is the place of a value; the value is repeated over what was
// summed, as far as it is there.
void SparseReduceSumGradient(GradientScope& s) {
  GraphBuilder& b = s.builder();
  const Value indices = s.x(0), shape = s.x(2), rank = SizeOf(shape);
  const Value axes = Op("FloorMod", {Reshape(s.x(3), b.Ints({-1})), rank});
  const Value times = Op("UnsortedSegmentSum", {OnesLike(axes), axes, rank});
  const Value is_summed = Compare("Greater", times, Number(times, 0));
  const Value kept = Reshape(s.dy(), Select(is_summed, Number(shape, 1), shape));
  s.Set(1, GatherAt(kept, Select(is_summed, Number(indices, 0), indices)));
}

// The dense operand is repeated to the shape of the sparse one. The place in it of each value of
// the sparse one: axes of size 1 have index 0 alone.
Value PlacesInDense(Value indices, Value rank, Value dense) {
  GraphBuilder& b = indices.builder();
  const Value size = ShapeOf(dense, DataType::kInt64);
  const Value first = Concat({b.Ints({0}), ExpandDims(rank - RankOf(dense), 0)}, 0);
  return Op("Minimum", {Slice(indices, first, b.Ints({-1, -1})), size - 1.0});
}

// The sums of values that belong to one place.
Value SumAt(Value places, Value values, Value dense) {
  return Op("SparseTensorDenseAdd",
            {places, values, ShapeOf(dense, DataType::kInt64), ZerosLike(dense)});
}

void SparseDenseCwiseMulGradient(GradientScope& s) {
  const Value values = s.x(1), dense = s.x(3), dy = s.dy();
  const Value places = PlacesInDense(s.x(0), SizeOf(s.x(2)), dense);
  s.Set(1, dy * GatherAt(dense, places));
  s.Set(3, SumAt(places, dy * values, dense));
}

void SparseDenseCwiseDivGradient(GradientScope& s) {
  const Value values = s.x(1), dense = s.x(3), dy = s.dy();
  const Value places = PlacesInDense(s.x(0), SizeOf(s.x(2)), dense);
  const Value divisors = GatherAt(dense, places);
  s.Set(1, dy / divisors);
  s.Set(3, SumAt(places, -dy * values / Square(divisors), dense));
}

// Rows are softened, as far as they have values.
void SparseSoftmaxGradient(GradientScope& s) {
  const Value indices = s.x(0), shape = s.x(2), y = s.y(), dy = s.dy();
  const Value sums = Op("SparseReduceSum", {indices, dy * y, shape, s.builder().Ints({-1})},
                        {{"keep_dims", attr::Bool(true)}});
  s.Set(1, Op("SparseDenseCwiseAdd", {indices, dy, shape, -sums}) * y);
}

// The value at row r and column c belongs to row r of dy and row c of the dense matrix; the adjoint
// of the sparse matrix has rows and columns exchanged.
void SparseTensorDenseMatMulGradient(GradientScope& s) {
  GraphBuilder& b = s.builder();
  const bool adjoint_a = s.Bool("adjoint_a"), adjoint_b = s.Bool("adjoint_b");
  const Value indices = s.x(0), dense = s.x(3);
  const auto column = [&](int64_t i) {
    return Reshape(Slice(indices, b.Ints({0, i}), b.Ints({-1, 1})), b.Ints({-1}));
  };
  const Value rows = column(adjoint_a ? 1 : 0), columns = column(adjoint_a ? 0 : 1);
  const Value right = adjoint_b ? TransposeMatrices(dense) : Conj(dense);
  const Value products = Sum(Gather(s.dy(), rows) * Gather(right, columns), b.Ints({-1}));
  s.Set(1, adjoint_a ? Conj(products) : products);
  const Value of_dense = Op("SparseTensorDenseMatMul", {indices, s.x(1), s.x(2), s.dy()},
                            {{"adjoint_a", attr::Bool(!adjoint_a)}});
  s.Set(3, adjoint_b ? Adjoint(of_dense) : of_dense);
}

constexpr GradientRow kSparse[] = {
    {"DenseToDenseSetOperation", nullptr},
    {"DenseToSparseSetOperation", nullptr},
    {"SparseAdd", SparseAddGradient},
    {"SparseAddGrad", nullptr},
    {"SparseConcat", nullptr},
    {"SparseDenseCwiseDiv", SparseDenseCwiseDivGradient},
    {"SparseDenseCwiseMul", SparseDenseCwiseMulGradient},
    {"SparseFillEmptyRows", SparseFillEmptyRowsGradient},
    {"SparseReduceSum", SparseReduceSumGradient},
    {"SparseReorder", SparseReorderGradient},
    {"SparseSlice", SparseSliceGradient},
    {"SparseSoftmax", SparseSoftmaxGradient},
    {"SparseTensorDenseAdd", SparseTensorDenseAddGradient},
    {"SparseTensorDenseMatMul", SparseTensorDenseMatMulGradient},
    {"SparseToDense", SparseToDenseGradient},
    {"SparseToSparseSetOperation", nullptr},
};

}  // namespace

absl::Span<const GradientRow> Sparse() { return kSparse; }

}  // namespace tenon::gradients
