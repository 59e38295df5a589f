// Inverses, determinants, systems of linear equations, square roots of matrices.
#include "absl/strings/str_cat.h"
#include "graph/gradients/families.h"
#include "graph/gradients/gradient_scope.h"
#include "graph/gradients/matrices.h"

namespace tenon::gradients {
namespace {

// --- Inverses and determinants.

Value OfMatrixInverse(GradientScope& s) {
  const bool adjoint = s.Bool("adjoint");
  const Value right = MatMul(s.dy(), s.y(), adjoint, !adjoint);
  return -MatMul(s.y(), right, !adjoint, false);
}

// Each matrix of the adjoint inverses of x, times its number.
Value TimesAdjointInverse(Value x, Value numbers) {
  const Value inverse = Op("MatrixInverse", {x}, {{"adjoint", attr::Bool(true)}});
  return ExpandDims(ExpandDims(numbers, -1), -1) * inverse;
}

Value OfMatrixDeterminant(GradientScope& s) { return TimesAdjointInverse(s.x(), s.dy() * s.y()); }

// Output 0 is the sign, which does not change.
Value OfLogMatrixDeterminant(GradientScope& s) { return TimesAdjointInverse(s.x(), s.dy(1)); }

// --- Systems of equations.

// The gradient of the matrix a of a * y = b, or adjoint(a) * y = b, by that of b.
Value OfMatrixOfSystem(GradientScope& s, Value of_rhs) {
  const Value y = s.y();
  return s.Bool("adjoint") ? -MatMul(y, of_rhs, false, true) : -MatMul(of_rhs, y, false, true);
}

void MatrixSolveGradient(GradientScope& s) {
  const Value of_rhs =
      Op("MatrixSolve", {s.x(0), s.dy()}, {{"adjoint", attr::Bool(!s.Bool("adjoint"))}});
  s.Set(0, OfMatrixOfSystem(s, of_rhs));
  s.Set(1, of_rhs);
}

void SetWithSummedBatches(GradientScope& s, Value of_matrix, Value of_rhs) {
  s.Set(0, SumBatches(of_matrix, s.x(0), s.x(1)));
  s.Set(1, SumBatches(of_rhs, s.x(1), s.x(0)));
}

void MatrixTriangularSolveGradient(GradientScope& s) {
  const bool lower = s.Bool("lower");
  const Value of_rhs = SolveTriangular(s.x(0), s.dy(), lower, !s.Bool("adjoint"));
  const Value whole = OfMatrixOfSystem(s, of_rhs);
  SetWithSummedBatches(s, lower ? LowerPart(whole) : UpperPart(whole), of_rhs);
}

// The matrix is given by its bands, the rows of input 0.
void BandedTriangularSolveGradient(GradientScope& s) {
  GraphBuilder& b = s.builder();
  const bool lower = s.Bool("lower");
  const Value of_rhs =
      Op("BandedTriangularSolve", {s.x(0), s.dy()},
         {{"lower", attr::Bool(lower)}, {"adjoint", attr::Bool(!s.Bool("adjoint"))}});
  const Value whole = OfMatrixOfSystem(s, of_rhs), zero = b.Ints({0});
  const Value bands = Slice(ShapeOf(s.x(0)), ExpandDims(RankOf(s.x(0)) - 2.0, 0), b.Ints({1}));
  const Value diagonals = lower ? Concat({1.0 - bands, zero}, 0) : Concat({zero, bands - 1.0}, 0);
  const Value of_bands = Op("MatrixDiagPartV3", {whole, diagonals, Number(whole, 0)},
                            {{"align", attr::String("LEFT_RIGHT")}});
  SetWithSummedBatches(s, of_bands, of_rhs);
}

// --- Three diagonals: rows above, main and below of a tensor [..., 3, m].

// Rows, or columns, moved by one to the front or the back; zeros follow.
Value RowsFromNext(Value x) { return Concat({Rows(x, 1, kEnd), ZerosLike(Rows(x, 0, 1))}, -2); }
Value RowsFromLast(Value x) { return Concat({ZerosLike(Rows(x, 0, 1)), Rows(x, 0, -1)}, -2); }
Value ColumnsFromNext(Value x) {
  return Concat({Columns(x, 1, kEnd), ZerosLike(Columns(x, 0, 1))}, -1);
}
Value ColumnsFromLast(Value x) {
  return Concat({ZerosLike(Columns(x, 0, 1)), Columns(x, 0, -1)}, -1);
}

void TridiagonalSolveGradient(GradientScope& s) {
  GraphBuilder& b = s.builder();
  const Value diagonals = s.x(0), y = s.y();
  const Value transposed = Concat({ColumnsFromNext(Rows(diagonals, 2, 3)), Rows(diagonals, 1, 2),
                                   ColumnsFromLast(Rows(diagonals, 0, 1))},
                                  -2);
  const Value of_rhs = Op("TridiagonalSolve", {transposed, s.dy()},
                          s.Attrs({"partial_pivoting", "perturb_singular"}));
  const auto products = [&](Value rows) { return Sum(of_rhs * rows, b.Ints({-1})); };
  s.Set(0, -Stack({products(RowsFromNext(y)), products(y), products(RowsFromLast(y))}, -2));
  s.Set(1, of_rhs);
}

// --- Least squares, by the normal equations.

// The solution of (c * adjoint(c)) * y = b.
Value SolveCholesky(Value c, Value b) {
  return SolveTriangular(c, SolveTriangular(c, b, /*lower=*/true, /*adjoint=*/false),
                         /*lower=*/true, /*adjoint=*/true);
}

Value CholeskyOfNormal(Value normal, Value l2) {
  return Op("Cholesky", {normal + Cast(l2, normal.dtype()) * IdentityLike(normal)});
}

// At least as many equations as unknowns: y = (a' a + l2)^-1 a' b.
void OverdeterminedGradient(GradientScope& s) {
  const Value a = s.x(0), b = s.x(1);
  const Value z = SolveCholesky(CholeskyOfNormal(MatMul(a, a, true, false), s.x(2)), s.dy());
  const Value yz = MatMul(s.y(), z, false, true);
  s.Set(0, MatMul(b, z, false, true) - MatMul(a, yz + TransposeMatrices(yz)));
  s.Set(1, MatMul(a, z));
}

// Less equations than unknowns: y = a' (a a' + l2)^-1 b.
void UnderdeterminedGradient(GradientScope& s) {
  const Value a = s.x(0), factor = CholeskyOfNormal(MatMul(a, a, false, true), s.x(2));
  const Value of_rhs = SolveCholesky(factor, MatMul(a, s.dy()));
  const Value z = SolveCholesky(factor, s.x(1));
  const Value rest = s.dy() - MatMul(a, of_rhs, true, false);
  s.Set(0, MatMul(z, rest, false, true) - MatMul(of_rhs, MatMul(z, a, true, false)));
  s.Set(1, of_rhs);
}

void MatrixSolveLsGradient(GradientScope& s) {
  const PartialShape shape = s.x(0).shape();
  const int rank = shape.known_rank() ? shape.rank() : 0;
  const int64_t rows = rank < 2 ? kUnknownDim : shape.dim(rank - 2),
                columns = rank < 2 ? kUnknownDim : shape.dim(rank - 1);
  if (!s.Bool("fast")) {
    s.Unimplemented("fast=false has no gradient");
  } else if (rows == kUnknownDim || columns == kUnknownDim) {
    s.Unimplemented(absl::StrCat("a matrix of unknown size: its shape is ", shape.ToString()));
  } else if (rows >= columns) {
    OverdeterminedGradient(s);
  } else {
    UnderdeterminedGradient(s);
  }
}

// --- Square roots: r r = x, so r dr + dr r = dx, a system of m * m equations for dr.

// The Kronecker products of square matrices of one shape: [..., m * m, m * m].
Value Kronecker(Value p, Value q, Value shape) {
  const Value outer = ExpandDims(ExpandDims(p, -1), -3), inner = ExpandDims(ExpandDims(q, -2), -4);
  return Reshape(outer * inner, shape);
}

Value OfMatrixSquareRoot(GradientScope& s) {
  GraphBuilder& b = s.builder();
  const Value root = s.y(), one = IdentityLike(root), batch = BatchShapeOf(root);
  const Value size = LastSizeOf(root), squared = size * size;
  const Value shape = Concat({batch, squared, squared}, 0);
  const Value system = Kronecker(one, TransposeMatrices(root), shape) + Kronecker(root, one, shape);
  const Value rhs = Reshape(TransposeMatrices(s.dy()), Concat({batch, squared, b.Ints({1})}, 0));
  return TransposeMatrices(ReshapeLike(Op("MatrixSolve", {system, rhs}), root));
}

constexpr GradientRow kSolves[] = {
    {"BandedTriangularSolve", BandedTriangularSolveGradient},
    {"LogMatrixDeterminant", Unary<OfLogMatrixDeterminant>},
    {"MatrixDeterminant", Unary<OfMatrixDeterminant>},
    {"MatrixInverse", Unary<OfMatrixInverse>},
    {"MatrixSolve", MatrixSolveGradient},
    {"MatrixSolveLs", MatrixSolveLsGradient},
    {"MatrixSquareRoot", Unary<OfMatrixSquareRoot>},
    {"MatrixTriangularSolve", MatrixTriangularSolveGradient},
    {"TridiagonalSolve", TridiagonalSolveGradient},
};

}  // namespace

absl::Span<const GradientRow> LinalgSolves() { return kSolves; }

}  // namespace tenon::gradients
