// Diagonals and bands of matrices, factorizations, Fourier transforms.
#include <algorithm>

#include "executor/stablehlo/rows.h"
#include "executor/stablehlo/shared.h"
#include "graph/base/status_macros.h"

namespace tenon::stablehlo {
namespace matrices_ops {
namespace {

absl::Status BandPart(Op& op) {
  const Value &x = op.In(0), &lower = op.In(1), &upper = op.In(2);
  const int rank = x.rank();
  if (rank < 2) return op.Invalid("the input must have two dimensions at least");
  const DataType type = lower.dtype;
  const Shape matrix({x.shape.dim(rank - 2), x.shape.dim(rank - 1)});
  const auto check = [&](int input, int64_t size) -> absl::Status {
    if (op.Known(input) == nullptr) {
      op.CheckAll(op.b.Compare("LE", op.In(input), static_cast<double>(size)),
                  "more diagonals than the matrix has");
      return absl::OkStatus();
    }
    TENON_ASSIGN_OR_RETURN(const int64_t most, op.IntOf(input));
    if (most > size) return op.Invalid("more diagonals than the matrix has");
    return absl::OkStatus();
  };
  TENON_RETURN_IF_ERROR(check(1, matrix.dim(0)));
  TENON_RETURN_IF_ERROR(check(2, matrix.dim(1)));
  const Value row = op.b.Iota(type, matrix, 0), column = op.b.Iota(type, matrix, 1);
  // A negative number of diagonals is all.
  const auto within = [&](const Value& distance, const Value& most) {
    const Value wide = op.b.Broadcast(most, matrix, {});
    return op.b.Or(op.b.Compare("LT", wide, 0.0), op.b.Compare("LE", distance, wide));
  };
  const Value kept =
      op.b.And(within(op.b.Sub(row, column), lower), within(op.b.Sub(column, row), upper));
  const Value mask = op.b.Broadcast(kept, x.shape, {rank - 2, rank - 1});
  return op.Out(op.b.Select(mask, x, op.b.Like(x, 0)));
}

// Diagonals `low` to `high` of matrices of some size, and how they lie in a packed tensor.
struct Diagonals {
  int64_t rows = 0, columns = 0, low = 0, high = 0;
  bool super_right = false, sub_right = false;  // where shorter diagonals are aligned

  int64_t count() const { return high - low + 1; }
  int64_t LengthOf(int64_t d) const {
    return std::min(rows + std::min<int64_t>(d, 0), columns - std::max<int64_t>(d, 0));
  }
  int64_t longest() const {
    return std::min(rows + std::min<int64_t>(high, 0), columns - std::max<int64_t>(low, 0));
  }
  // Where diagonal d begins in its row of the packed tensor.
  int64_t StartOf(int64_t d) const {
    const bool right = d >= 0 ? super_right : sub_right;
    return right ? longest() - LengthOf(d) : 0;
  }
};

// Sets the diagonals from input `k`, if the op has it, and the attribute `align`.
absl::Status ReadDiagonals(Op& op, int k, Diagonals* d) {
  if (k >= 0) {
    TENON_ASSIGN_OR_RETURN(const Ints range, op.IntsOf(k));
    if (range.empty() || range.size() > 2) return op.Invalid("k must be one number or two");
    d->low = range.front();
    d->high = range.back();
  }
  if (d->low > d->high || d->longest() <= 0 || d->high >= std::max<int64_t>(d->columns, 1) ||
      -d->low >= std::max<int64_t>(d->rows, 1))
    return op.Invalid("there are no such diagonals");
  if (!op.shapes().HasAttr("align")) return absl::OkStatus();
  TENON_ASSIGN_OR_RETURN(const std::string_view align, op.String("align"));
  d->super_right = align.starts_with("RIGHT");
  d->sub_right = align.ends_with("RIGHT");
  return absl::OkStatus();
}

// For each element of a whole the element of a part that it is, or -1; as a gather and a mask.
struct Mapping {
  Ints places;
  std::vector<uint8_t> mask;

  void Add(int64_t place) {
    places.push_back(std::max<int64_t>(place, 0));
    mask.push_back(place >= 0);
  }
};

Mapping FromMatrix(const Diagonals& d) {
  Mapping map;
  for (int64_t diagonal = d.high; diagonal >= d.low; --diagonal) {
    for (int64_t i = 0; i < d.longest(); ++i) {
      const int64_t at = i - d.StartOf(diagonal);
      const int64_t row = at + std::max<int64_t>(-diagonal, 0);
      const int64_t column = at + std::max<int64_t>(diagonal, 0);
      const bool inside = at >= 0 && at < d.LengthOf(diagonal);
      map.Add(inside ? row * d.columns + column : -1);
    }
  }
  return map;
}

Mapping ToMatrix(const Diagonals& d) {
  Mapping map;
  for (int64_t row = 0; row < d.rows; ++row) {
    for (int64_t column = 0; column < d.columns; ++column) {
      const int64_t diagonal = column - row;
      const bool inside = diagonal >= d.low && diagonal <= d.high;
      map.Add(inside
                  ? (d.high - diagonal) * d.longest() + d.StartOf(diagonal) + std::min(row, column)
                  : -1);
    }
  }
  return map;
}

// The elements of x, whose last `axes` axes are the part, as `map` places them; `other` elsewhere.
Value Placed(Op& op, const Value& x, int axes, const Mapping& map, const Value& other) {
  int64_t outer = 1, inner = 1;
  for (int i = 0; i < x.rank(); ++i) (i < x.rank() - axes ? outer : inner) *= x.shape.dim(i);
  const auto n = static_cast<int64_t>(map.places.size());
  const Value flat = op.b.Reshape(x, Shape({outer, inner}));
  const Value taken = GatherAxis(op, flat, 1, map.places);
  const Value mask = op.Constant(Tensor::Of<uint8_t>(DataType::kUint8, map.mask, Shape({n})));
  const Value kept = op.b.Compare("NE", op.b.Broadcast(mask, taken.shape, {1}), 0.0);
  return op.b.Reshape(op.b.Select(kept, taken, op.b.Reshape(other, taken.shape)), other.shape);
}

// input, k, padding -> diagonals
template <int kK>
absl::Status DiagonalPart(Op& op) {
  const Value& x = op.In(0);
  Diagonals d;
  d.rows = x.shape.dim(x.rank() - 2);
  d.columns = x.shape.dim(x.rank() - 1);
  TENON_RETURN_IF_ERROR(ReadDiagonals(op, kK, &d));
  Shape shape;
  for (int i = 0; i < x.rank() - 2; ++i) shape.push_back(x.shape.dim(i));
  if (d.count() > 1) shape.push_back(d.count());
  shape.push_back(d.longest());
  const Value padding = kK < 0 ? op.b.Scalar(x.dtype, 0) : op.In(2);
  if (shape.num_elements() == 0) return op.Out(op.b.Full(x.dtype, shape, 0));
  return op.Out(Placed(op, x, 2, FromMatrix(d), op.b.Broadcast(padding, shape, {})));
}

// diagonals, k, rows, columns, padding -> matrices; kK below 0: the diagonals alone
template <int kK>
absl::Status DiagonalMatrix(Op& op) {
  TENON_ASSIGN_OR_RETURN(const Shape shape, op.OutShape());
  Diagonals d;
  d.rows = shape.dim(shape.rank() - 2);
  d.columns = shape.dim(shape.rank() - 1);
  TENON_RETURN_IF_ERROR(ReadDiagonals(op, kK, &d));
  const Value& x = op.In(0);
  const Value padding = kK < 0 ? op.b.Scalar(x.dtype, 0) : op.In(4);
  if (x.shape.num_elements() == 0) return op.Out(op.b.Broadcast(padding, shape, {}));
  if (x.shape.dim(x.rank() - 1) != d.longest()) return op.Invalid("the diagonals do not fit");
  return op.Out(
      Placed(op, x, d.count() > 1 ? 2 : 1, ToMatrix(d), op.b.Broadcast(padding, shape, {})));
}

// input, diagonals, k
template <int kK>
absl::Status SetDiagonal(Op& op) {
  const Value &x = op.In(0), &diagonals = op.In(1);
  Diagonals d;
  d.rows = x.shape.dim(x.rank() - 2);
  d.columns = x.shape.dim(x.rank() - 1);
  if (x.shape.num_elements() == 0) return op.Out(x);
  TENON_RETURN_IF_ERROR(ReadDiagonals(op, kK, &d));
  int64_t batches = 1;
  for (int i = 0; i < x.rank() - 2; ++i) batches *= x.shape.dim(i);
  if (diagonals.shape.num_elements() != batches * d.count() * d.longest())
    return op.Invalid("the diagonals do not fit");
  return op.Out(Placed(op, diagonals, d.count() > 1 ? 2 : 1, ToMatrix(d), x));
}

// A tensor [a, b] to one of [a, b, a, b], and back.
absl::Status Diag(Op& op) {
  TENON_ASSIGN_OR_RETURN(const Shape shape, op.OutShape());
  const Value& x = op.In(0);
  const int64_t n = x.shape.num_elements();
  const Value flat = op.b.Reshape(x, Shape({n}));
  const Shape square({n, n});
  const Value on = op.b.Compare("EQ", op.b.Iota(DataType::kInt32, square, 0),
                                op.b.Iota(DataType::kInt32, square, 1));
  const Value matrix =
      op.b.Select(on, op.b.Broadcast(flat, square, {0}), op.b.Full(x.dtype, square, 0));
  return op.Out(op.b.Reshape(matrix, shape));
}

absl::Status DiagPart(Op& op) {
  TENON_ASSIGN_OR_RETURN(const Shape shape, op.OutShape());
  const Value& x = op.In(0);
  const int64_t n = shape.num_elements();
  Ints places;
  for (int64_t i = 0; i < n; ++i) places.push_back(i * (n + 1));
  const Value flat = op.b.Reshape(x, Shape({n * n}));
  return op.Out(op.b.Reshape(GatherAxis(op, flat, 0, places), shape));
}

// --- Factorizations and solutions.

// The lower triangle; a matrix that is not positive definite is an error.
absl::Status Cholesky(Op& op) {
  const Value& x = op.In(0);
  if (x.shape.num_elements() == 0) return op.Out(x);
  const Value factor = op.b.Cholesky(x);
  const int rank = x.rank();
  const Value row = op.b.Iota(DataType::kInt32, x.shape, rank - 2);
  const Value column = op.b.Iota(DataType::kInt32, x.shape, rank - 1);
  const Value out = op.b.Select(op.b.Compare("GE", row, column), factor, op.b.Like(factor, 0));
  op.CheckAll(op.b.Compare("EQ", out, out), "Cholesky decomposition was not successful");
  return op.Out(out);
}

absl::Status TriangularSolve(Op& op) {
  TENON_ASSIGN_OR_RETURN(const bool lower, op.Bool("lower"));
  TENON_ASSIGN_OR_RETURN(const bool adjoint, op.Bool("adjoint"));
  TENON_ASSIGN_OR_RETURN(const Shape shape, op.OutShape());
  Value a = op.In(0), b = op.In(1);
  if (shape.num_elements() == 0) return op.Out(op.b.Full(b.dtype, shape, 0));
  Shape batch;
  for (int i = 0; i + 2 < shape.rank(); ++i) batch.push_back(shape.dim(i));
  const auto wide = [&](const Value& x) {
    Shape whole = batch;
    whole.push_back(x.shape.dim(x.rank() - 2));
    whole.push_back(x.shape.dim(x.rank() - 1));
    return op.b.BroadcastTo(x, whole);
  };
  a = wide(a);
  b = wide(b);
  return op.Out(op.b.TriangularSolve(a, b, lower, adjoint ? "ADJOINT" : "NO_TRANSPOSE"));
}

// --- Fourier transforms over the last axes.

template <int kAxes, OpName kType>
absl::Status Fourier(Op& op) {
  const Value& x = op.In(0);
  Ints length;
  for (int i = x.rank() - kAxes; i < x.rank(); ++i) length.push_back(x.shape.dim(i));
  if (x.shape.num_elements() == 0) return op.Out(x);
  return op.Out(op.b.Fft(kType.text, x, length, x.dtype, x.shape));
}

// x with these sizes of its last axes: cut, or of nothing zeros. TensorFlow refuses other smaller
// inputs.
absl::StatusOr<Value> Fitted(Op& op, const Value& x, IntSpan sizes) {
  Ints low(x.rank(), 0), high(x.rank(), 0);
  const int first = x.rank() - static_cast<int>(sizes.size());
  for (int i = first; i < x.rank(); ++i) {
    high[i] = sizes[i - first] - x.shape.dim(i);
    if (high[i] > 0 && x.shape.dim(i) != 0) return op.Invalid("the input is shorter than a length");
  }
  return op.b.Pad(x, op.b.Scalar(x.dtype, 0), low, high);
}

template <int kAxes>
absl::Status RealFourier(Op& op) {
  TENON_ASSIGN_OR_RETURN(const Ints length, op.IntsOf(1));
  TENON_ASSIGN_OR_RETURN(const Shape shape, op.OutShape());
  if (shape.num_elements() == 0) return op.Out(op.b.Full(op.OutType(0), shape, 0));
  if (std::ranges::any_of(length, [](int64_t n) { return n <= 0; }))
    return op.Invalid("a length must be positive");
  const DataType out = op.OutType(0);
  const DataType part = out == DataType::kComplex128 ? DataType::kDouble : DataType::kFloat;
  TENON_ASSIGN_OR_RETURN(const Value x, Fitted(op, op.b.Convert(op.In(0), part), length));
  return op.Out(op.b.Fft("RFFT", x, length, out, shape));
}

template <int kAxes>
absl::Status InverseRealFourier(Op& op) {
  TENON_ASSIGN_OR_RETURN(const Ints length, op.IntsOf(1));
  TENON_ASSIGN_OR_RETURN(const Shape shape, op.OutShape());
  if (shape.num_elements() == 0) return op.Out(op.b.Full(op.OutType(0), shape, 0));
  if (std::ranges::any_of(length, [](int64_t n) { return n <= 0; }))
    return op.Invalid("a length must be positive");
  Ints sizes = length;
  sizes.back() = length.back() / 2 + 1;
  TENON_ASSIGN_OR_RETURN(const Value x, Fitted(op, op.In(0), sizes));
  const DataType part = x.dtype == DataType::kComplex128 ? DataType::kDouble : DataType::kFloat;
  if (part != op.OutType(0)) return op.Invalid("the types do not fit each other");
  return op.Out(op.b.Fft("IRFFT", x, length, part, shape));
}

constexpr Types kSolved = kComplexes | Types{DataType::kFloat, DataType::kDouble};
constexpr Types kFourier = kComplexes | Types{DataType::kFloat, DataType::kDouble};
constexpr uint64_t kSizes = In(1) | In(2) | In(3);

constexpr Row kRows[] = {
    {"MatrixBandPart", BandPart, kAll},
    {"MatrixDiag", DiagonalMatrix<-1>, kAll},
    {"MatrixDiagV2", DiagonalMatrix<1>, kAll, kSizes},
    {"MatrixDiagV3", DiagonalMatrix<1>, kAll, kSizes},
    {"MatrixDiagPart", DiagonalPart<-1>, kAll},
    {"MatrixDiagPartV2", DiagonalPart<1>, kAll, In(1)},
    {"MatrixDiagPartV3", DiagonalPart<1>, kAll, In(1)},
    {"MatrixSetDiag", SetDiagonal<-1>, kAll},
    {"MatrixSetDiagV2", SetDiagonal<2>, kAll, In(2)},
    {"MatrixSetDiagV3", SetDiagonal<2>, kAll, In(2)},
    {"Diag", Diag, kAll},
    {"DiagPart", DiagPart, kAll},
    {"Cholesky", Cholesky, kSolved},
    {"BatchCholesky", Cholesky, kSolved},
    {"MatrixTriangularSolve", TriangularSolve, kSolved},
    {"BatchMatrixTriangularSolve", TriangularSolve, kSolved},
    {"FFT", Fourier<1, "FFT">, kComplexes},
    {"FFT2D", Fourier<2, "FFT">, kComplexes},
    {"FFT3D", Fourier<3, "FFT">, kComplexes},
    {"IFFT", Fourier<1, "IFFT">, kComplexes},
    {"IFFT2D", Fourier<2, "IFFT">, kComplexes},
    {"IFFT3D", Fourier<3, "IFFT">, kComplexes},
    {"RFFT", RealFourier<1>, kFourier, In(1)},
    {"RFFT2D", RealFourier<2>, kFourier, In(1)},
    {"RFFT3D", RealFourier<3>, kFourier, In(1)},
    {"IRFFT", InverseRealFourier<1>, kFourier, In(1)},
    {"IRFFT2D", InverseRealFourier<2>, kFourier, In(1)},
    {"IRFFT3D", InverseRealFourier<3>, kFourier, In(1)},
};

}  // namespace
}  // namespace matrices_ops

Rows MatrixRows() { return matrices_ops::kRows; }

}  // namespace tenon::stablehlo
