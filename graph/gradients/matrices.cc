// Nodes that compute with batches of matrices.
#include "graph/gradients/matrices.h"

#include <numeric>
#include <vector>

#include "graph/gradients/math.h"

namespace tenon::gradients {
namespace {

// The numbers of the axes, the last two exchanged.
Value ExchangedAxes(Value x) {
  if (x.rank() >= 2) {
    std::vector<int64_t> axes(x.rank());
    std::iota(axes.begin(), axes.end(), 0);
    std::swap(axes[axes.size() - 2], axes[axes.size() - 1]);
    return x.builder().Ints(axes);
  }
  const Value rank = RankOf(x), zero = x.builder().Scalar(DataType::kInt32, 0);
  return Concat({Range(zero, rank - 2.0), Stack({rank - 1.0, rank - 2.0})}, 0);
}

// A strided slice. The bounds are those of the last axes, which follow an ellipsis.
struct AxisBounds {
  int64_t begin, end;
};
Value SliceBehindEllipsis(Value x, std::initializer_list<AxisBounds> bounds) {
  std::vector<int64_t> begin = {0}, end = {0};
  for (const AxisBounds& axis : bounds) {
    begin.push_back(axis.begin);
    end.push_back(axis.end);
  }
  GraphBuilder& b = x.builder();
  const Value strides = b.Ints(std::vector<int64_t>(begin.size(), 1));
  return Op("StridedSlice", {x, b.Ints(begin), b.Ints(end), strides},
            {{"ellipsis_mask", attr::Int(1)}});
}

Value Band(Value x, int64_t lower, int64_t upper) {
  const auto number = [&](int64_t n) {
    return x.builder().Scalar(DataType::kInt64, static_cast<double>(n));
  };
  return Op("MatrixBandPart", {x, number(lower), number(upper)});
}

// All but the last two sizes; nothing where the rank is not known or below 2.
PartialShape KnownBatches(const PartialShape& shape) {
  if (!shape.known_rank() || shape.rank() < 2) return {};
  return PartialShape(shape.dims().subspan(0, shape.rank() - 2));
}

}  // namespace

Value TransposeMatrices(Value x) { return Transpose(x, ExchangedAxes(x)); }
Value Adjoint(Value x) {
  return IsComplex(x.dtype()) ? Op("ConjugateTranspose", {x, ExchangedAxes(x)})
                              : TransposeMatrices(x);
}

Value DiagonalOf(Value x) { return Op("MatrixDiagPart", {x}); }
Value WithDiagonal(Value x, Value diagonal) { return Op("MatrixSetDiag", {x, diagonal}); }
Value DiagonalMatrix(Value diagonal) { return Op("MatrixDiag", {diagonal}); }
Value LowerPart(Value x) { return Band(x, -1, 0); }
Value UpperPart(Value x) { return Band(x, 0, -1); }
Value IdentityLike(Value x) { return WithDiagonal(ZerosLike(x), OnesLike(DiagonalOf(x))); }

Value Columns(Value x, int64_t begin, int64_t end) {
  return SliceBehindEllipsis(x, {{begin, end}});
}
Value Rows(Value x, int64_t begin, int64_t end) {
  return SliceBehindEllipsis(x, {{begin, end}, {0, kEnd}});
}

Value BatchShapeOf(Value x) {
  const Value shape = ShapeOf(x);
  return Op("Slice", {shape, x.builder().Ints({0}), ExpandDims(RankOf(x) - 2.0, 0)});
}

Value LastSizeOf(Value x) {
  const int rank = x.rank();
  const int64_t known = rank < 1 ? kUnknownDim : x.shape().dim(rank - 1);
  if (known != kUnknownDim) return x.builder().Ints({known});
  return Slice(ShapeOf(x), ExpandDims(RankOf(x) - 1.0, 0), x.builder().Ints({1}));
}

Value SumBatches(Value gradient, Value x, Value other) {
  const PartialShape of_x = KnownBatches(x.shape()), of_other = KnownBatches(other.shape());
  if (of_x.fully_defined() && of_x == of_other) return gradient;
  const Value axes = Op("BroadcastGradientArgs", {BatchShapeOf(x), BatchShapeOf(other)});
  return ReshapeLike(Sum(gradient, axes), x);
}

Value SolveTriangular(Value a, Value b, bool lower, bool adjoint) {
  return Op("MatrixTriangularSolve", {a, b},
            {{"lower", attr::Bool(lower)}, {"adjoint", attr::Bool(adjoint)}});
}

}  // namespace tenon::gradients
