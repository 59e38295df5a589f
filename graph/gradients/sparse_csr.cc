// Sparse matrices as variants (CSR). The gradient of such a matrix is one with entries at the same
// places: what flows to other places, which are zeros of the matrix, goes nowhere.
#include "graph/gradients/families.h"
#include "graph/gradients/gradient_scope.h"
#include "graph/gradients/matrices.h"

namespace tenon::gradients {
namespace {

// The entries of a matrix, in the order of rows: indices [n, rank], values [n].
struct CsrEntries {
  Value indices, values, shape;
};
CsrEntries EntriesOf(Value matrix, DataType type) {
  GraphBuilder& b = matrix.builder();
  const NodeId n =
      b.AddNode("CSRSparseMatrixToSparseTensor", {matrix}, {{"type", attr::Type(type)}});
  return {b.At(n, 0), b.At(n, 1), b.At(n, 2)};
}

Value MatrixOf(Value indices, Value values, Value shape) {
  return Op("SparseTensorToCSRSparseMatrix", {indices, values, shape});
}

// The numbers of places, counted along rows.
Value PlaceNumbers(const CsrEntries& entries) {
  const Value flat = entries.values.builder().Ints({-1}, DataType::kInt64);
  return Reshape(Op("SparseReshape", {entries.indices, entries.shape, flat}),
                 entries.values.builder().Ints({-1}));
}

// The entries of `matrix` at the places of those of `pattern`; zeros where it has none.
Value AtPlacesOf(Value pattern, Value matrix, DataType type) {
  GraphBuilder& b = matrix.builder();
  const CsrEntries wanted = EntriesOf(pattern, type), given = EntriesOf(matrix, type);
  const Value numbers = PlaceNumbers(wanted), searched = PlaceNumbers(given);
  const Value found =
      Reshape(Op("LowerBound", {ExpandDims(searched, 0), ExpandDims(numbers, 0)}), b.Ints({-1}));
  // One more entry at no place stands behind the last.
  const Value none = b.Ints({-1}, DataType::kInt64), zero = b.Scalar(type, 0);
  const Value places = Gather(Concat({searched, none}, 0), found);
  const Value values = Gather(Concat({given.values, ExpandDims(zero, 0)}, 0), found);
  return MatrixOf(wanted.indices, Select(Compare("Equal", places, numbers), values, zero),
                  wanted.shape);
}

// --- Conversions.

Value OfDenseToCsr(GradientScope& s) {
  return Op("CSRSparseMatrixToDense", {s.dy()}, {{"type", attr::Type(s.Type("T"))}});
}

Value OfCsrToDense(GradientScope& s) {
  const CsrEntries entries = EntriesOf(s.x(), s.dy().dtype());
  return MatrixOf(entries.indices, Op("GatherNd", {s.dy(), entries.indices}), entries.shape);
}

void SparseTensorToCsrGradient(GradientScope& s) {
  s.Set(1, EntriesOf(s.dy(), s.Type("T")).values);
}

Value OfCsrToSparseTensor(GradientScope& s) { return MatrixOf(s.y(0), s.dy(1), s.y(2)); }

// --- One matrix, or sums.

// The factors of the sum have no gradients.
void SparseMatrixAddGradient(GradientScope& s) {
  const DataType type = s.Type("T");
  for (int i = 0; i < 2; ++i)
    s.Set(i, Op("SparseMatrixMul", {AtPlacesOf(s.x(i), s.dy(), type), s.x(i + 2)}));
}

Value OfSparseMatrixTranspose(GradientScope& s) {
  return Op("SparseMatrixTranspose", {s.dy()}, s.Attrs({"conjugate", "type"}));
}

Value OfSparseMatrixSoftmax(GradientScope& s) {
  return Op("SparseMatrixSoftmaxGrad", {s.y(), s.dy()}, s.Attrs({"type"}));
}

// --- Products op(a) * op(b), where op transposes, takes the adjoint, or does nothing: the gradient
// of op(a) is dy * op(b)', that of op(b) is op(a)' * dy.

struct Turn {
  bool transposes, conjugates;
};
Turn TurnOf(GradientScope& s, std::string_view transpose, std::string_view adjoint) {
  const bool conjugates = s.Bool(adjoint);
  return {s.Bool(transpose) || conjugates, conjugates};
}

Value ConjIf(bool conjugates, Value x) { return conjugates ? Conj(x) : x; }

// The columns of `indices` that say where an entry lies: the matrix of the batch, if there are
// several, and the row or the column.
Value CoordinatesOf(Value indices, int rank, bool column) {
  GraphBuilder& b = indices.builder();
  const int64_t last = rank - (column ? 1 : 2);
  return Gather(indices, rank == 3 ? b.Ints({0, last}) : b.Ints({last}), 1);
}

// Sums of products of rows of dy and rows of op(b), at the places of a's entries.
Value OfSparseOperand(GradientScope& s, Value dy, const Turn& a, const Turn& b, int rank) {
  const CsrEntries entries = EntriesOf(s.x(0), dy.dtype());
  const Value turned = b.transposes ? TransposeMatrices(s.x(1)) : s.x(1);
  const Value right = ConjIf(!b.conjugates, turned);
  const auto rows = [&](Value of, bool column) {
    return Op("GatherNd", {of, CoordinatesOf(entries.indices, rank, column)});
  };
  const Value values =
      Sum(rows(dy, a.transposes) * rows(right, !a.transposes), s.builder().Ints({-1}));
  return MatrixOf(entries.indices, ConjIf(a.conjugates, values), entries.shape);
}

// op(a)' is the adjoint of a, a itself, or its conjugate: then all else is conjugated.
Value OfDenseOperand(GradientScope& s, Value dy, const Turn& a, const Turn& b) {
  const bool conjugate_all = a.transposes && !a.conjugates;
  return Op("SparseMatrixMatMul", {s.x(0), ConjIf(conjugate_all, dy)},
            {{"adjoint_a", attr::Bool(!a.transposes)},
             {"transpose_output", attr::Bool(b.transposes)},
             {"conjugate_output", attr::Bool(conjugate_all != b.conjugates)}});
}

void SparseMatrixMatMulGradient(GradientScope& s) {
  const int rank = s.x(1).rank();
  if (rank < 0) {
    s.Unimplemented("a dense matrix of unknown rank");
    return;
  }
  const Turn a = TurnOf(s, "transpose_a", "adjoint_a"), b = TurnOf(s, "transpose_b", "adjoint_b");
  Value dy = ConjIf(s.Bool("conjugate_output"), s.dy());
  if (s.Bool("transpose_output")) dy = TransposeMatrices(dy);
  s.Set(0, OfSparseOperand(s, dy, a, b, rank));
  s.Set(1, OfDenseOperand(s, dy, a, b));
}

// A sparse operand as it is multiplied.
struct SparseFactor {
  Value matrix;
  Turn turn;
};

Value SparseProduct(const SparseFactor& a, const SparseFactor& b, DataType type) {
  return Op("SparseMatrixSparseMatMul", {a.matrix, b.matrix},
            {{"type", attr::Type(type)},
             {"transpose_a", attr::Bool(a.turn.transposes && !a.turn.conjugates)},
             {"transpose_b", attr::Bool(b.turn.transposes && !b.turn.conjugates)},
             {"adjoint_a", attr::Bool(a.turn.conjugates)},
             {"adjoint_b", attr::Bool(b.turn.conjugates)}});
}

// The adjoint of op(x). A conjugate is the transposed adjoint: no flag conjugates alone.
SparseFactor AdjointFactor(Value x, const Turn& turn, DataType type) {
  if (!turn.transposes) return {x, {true, true}};
  if (turn.conjugates) return {x, {false, false}};
  return {Op("SparseMatrixTranspose", {x},
             {{"conjugate", attr::Bool(true)}, {"type", attr::Type(type)}}),
          {true, false}};
}

// From the gradient of op(x) to that of x.
Value TurnedBack(Value gradient, const Turn& turn, DataType type) {
  if (!turn.transposes) return gradient;
  return Op("SparseMatrixTranspose", {gradient},
            {{"conjugate", attr::Bool(turn.conjugates)}, {"type", attr::Type(type)}});
}

void SparseMatrixSparseMatMulGradient(GradientScope& s) {
  const DataType type = s.Type("type");
  const Turn a = TurnOf(s, "transpose_a", "adjoint_a"), b = TurnOf(s, "transpose_b", "adjoint_b");
  const SparseFactor dy = {s.dy(), {false, false}};
  const Value da = SparseProduct(dy, AdjointFactor(s.x(1), b, type), type);
  const Value db = SparseProduct(AdjointFactor(s.x(0), a, type), dy, type);
  s.Set(0, AtPlacesOf(s.x(0), TurnedBack(da, a, type), type));
  s.Set(1, AtPlacesOf(s.x(1), TurnedBack(db, b, type), type));
}

constexpr GradientRow kCsr[] = {
    {"CSRSparseMatrixToDense", Unary<OfCsrToDense>},
    {"CSRSparseMatrixToSparseTensor", Unary<OfCsrToSparseTensor>},
    {"DenseToCSRSparseMatrix", Unary<OfDenseToCsr>},
    {"SparseMatrixAdd", SparseMatrixAddGradient},
    {"SparseMatrixMatMul", SparseMatrixMatMulGradient},
    {"SparseMatrixNNZ", nullptr},
    {"SparseMatrixSoftmax", Unary<OfSparseMatrixSoftmax>},
    {"SparseMatrixSparseMatMul", SparseMatrixSparseMatMulGradient},
    {"SparseMatrixTranspose", Unary<OfSparseMatrixTranspose>},
    {"SparseMatrixZeros", nullptr},
    {"SparseTensorToCSRSparseMatrix", SparseTensorToCsrGradient},
};

}  // namespace

absl::Span<const GradientRow> SparseCsr() { return kCsr; }

}  // namespace tenon::gradients
