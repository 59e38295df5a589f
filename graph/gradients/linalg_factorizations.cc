// Factorizations of matrices: Cholesky, Qr, Eig, SelfAdjointEigV2, Svd.
#include <cstdlib>
#include <utility>

#include "absl/strings/str_cat.h"
#include "graph/gradients/families.h"
#include "graph/gradients/gradient_scope.h"
#include "graph/gradients/matrices.h"

namespace tenon::gradients {
namespace {

// 1 / x, but 0 for 0.
Value SafeReciprocal(Value x) { return x * Op("Reciprocal", {x * x + 1e-20}); }

// Matrices of 1 / (x[j] - x[i]), with zeros on the diagonal. Gradients of vectors of a factor are
// not bounded where two eigenvalues, or singular values, are equal.
Value ReciprocalDifferences(Value x) {
  return WithDiagonal(SafeReciprocal(ExpandDims(x, -2) - ExpandDims(x, -1)), ZerosLike(x));
}

// Products with diagonal matrices.
Value TimesDiagonal(Value x, Value diagonal) { return x * ExpandDims(diagonal, -2); }
Value DiagonalTimes(Value diagonal, Value x) { return ExpandDims(diagonal, -1) * x; }

Value RealAsComplex(Value x) {
  const DataType real = x.dtype() == DataType::kComplex128 ? DataType::kDouble : DataType::kFloat;
  return Cast(Op("Real", {x}, {{"Tout", attr::Type(real)}}), x.dtype());
}

// --- Cholesky.

Value OfCholesky(GradientScope& s) {
  const Value l = s.y(), product = MatMul(l, s.dy(), true, false);
  const Value middle = LowerPart(WithDiagonal(product, 0.5 * DiagonalOf(product)));
  // l^-H * middle * l^-1, by two systems of equations.
  const auto solve = [&](Value rhs) { return SolveTriangular(l, rhs, true, /*adjoint=*/true); };
  const Value dx = Adjoint(solve(Adjoint(solve(middle))));
  return 0.5 * (dx + Adjoint(dx));
}

// --- Qr.

// x * r^-H for an upper triangular r.
Value TimesInverseOfAdjoint(Value x, Value r) {
  return Adjoint(SolveTriangular(r, Adjoint(x), /*lower=*/false, /*adjoint=*/false));
}

// x = q r, where r is square.
Value OfQrWithSquareR(Value q, Value r, Value dq, Value dr) {
  const Value qdq = MatMul(q, dq, true, false), rdr = MatMul(r, dr, false, true);
  const Value skew = (qdq - Adjoint(qdq)) + (rdr - Adjoint(rdr));
  Value inner = LowerPart(skew);
  if (IsComplex(q.dtype())) {
    // The diagonal of r is real: what flows into its imaginary part turns columns of q.
    const Value diagonal = DiagonalOf(rdr - Adjoint(qdq));
    inner = inner + Conj(DiagonalMatrix(diagonal - RealAsComplex(diagonal)));
  }
  const Value through_q = dq - MatMul(q, qdq) + MatMul(q, inner);
  return MatMul(q, dr) + TimesInverseOfAdjoint(through_q, r);
}

void QrGradient(GradientScope& s) {
  const Value q = s.y(0), r = s.y(1);
  const PartialShape of_q = q.shape(), of_r = r.shape();
  const int rank = of_r.known_rank() && of_q.known_rank() ? of_r.rank() : 0;
  const auto size = [&](const PartialShape& shape, int axis) {
    return rank < 2 ? kUnknownDim : shape.dim(rank - axis);
  };
  const int64_t rows = size(of_q, 2), inner = size(of_r, 2), columns = size(of_r, 1);
  if (rows == kUnknownDim || inner == kUnknownDim || columns == kUnknownDim) {
    s.Unimplemented(
        absl::StrCat("factors of unknown sizes: ", of_q.ToString(), " and ", of_r.ToString()));
  } else if (inner > columns) {
    s.Unimplemented(
        absl::StrCat("full_matrices=true for more rows than columns: ", of_r.ToString()));
  } else if (inner == columns) {
    s.Set(0, OfQrWithSquareR(q, r, s.dy(0), s.dy(1)));
  } else {
    // x = [a, b] and r = [q' a, q' b]: a is square, and b has its part in q.
    const Value dr = s.dy(1), db = Columns(dr, inner, kEnd), b = Columns(s.x(), inner, kEnd);
    const Value dq = s.dy(0) + MatMul(b, db, false, true);
    const Value da = OfQrWithSquareR(q, Columns(r, 0, inner), dq, Columns(dr, 0, inner));
    s.Set(0, Concat({da, MatMul(q, db)}, -1));
  }
}

// --- Eigenvalues e and vectors v.

// v, computed anew if the node gives eigenvalues alone.
Value EigenvectorsOf(GradientScope& s) {
  if (s.Bool("compute_v")) return s.y(1);
  NewAttrs attrs = s.AllAttrs();
  PutAttr(attrs, "compute_v", attr::Bool(true));
  return s.builder().At(s.builder().AddNode(s.op(), {s.x()}, std::move(attrs)), 1);
}

Value OfEig(GradientScope& s) {
  const Value v = EigenvectorsOf(s);
  Value middle = DiagonalMatrix(s.dy(0));
  if (s.Bool("compute_v")) {
    // Vectors have length 1, so nothing flows along them.
    const Value vdv = MatMul(v, s.dy(1), true, false);
    const Value along = TimesDiagonal(MatMul(v, v, true, false), RealAsComplex(DiagonalOf(vdv)));
    middle = middle + Conj(ReciprocalDifferences(s.y(0))) * (vdv - along);
  }
  const Value turned = Adjoint(v);
  return Cast(Op("MatrixSolve", {turned, MatMul(middle, turned)}), s.x().dtype());
}

Value OfSelfAdjointEig(GradientScope& s) {
  const Value v = EigenvectorsOf(s);
  Value middle = DiagonalMatrix(s.dy(0));
  if (s.Bool("compute_v"))
    middle = middle + ReciprocalDifferences(s.y(0)) * MatMul(v, s.dy(1), true, false);
  const Value dx = MatMul(v, MatMul(middle, v, false, true));
  // The op reads the lower triangle alone.
  const Value lower = LowerPart(dx + Adjoint(dx));
  return WithDiagonal(lower, 0.5 * DiagonalOf(lower));
}

// --- Svd: x = u * diag(s) * v', of no more rows than columns.

struct SvdFactors {
  Value s, u, v, ds, du, dv;
  int64_t rows, columns;
  bool full;
};

// What flows through the singular values, and through u and v within the space of the rows.
Value SvdInnerGradient(const SvdFactors& f, Value v, Value vdv) {
  const Value by_difference = ReciprocalDifferences(Square(f.s));
  const Value of_u = by_difference * MatMul(f.u, f.du, true, false), of_v = by_difference * vdv;
  Value middle = DiagonalMatrix(f.ds) + TimesDiagonal(of_u + Adjoint(of_u), f.s) +
                 DiagonalTimes(f.s, of_v + Adjoint(of_v));
  if (IsComplex(f.u.dtype())) {
    const Value diagonal = DiagonalOf(vdv);
    const Value turn = 0.5 * (Conj(diagonal) - diagonal) * SafeReciprocal(f.s);
    middle = middle + DiagonalMatrix(turn);
  }
  return MatMul(f.u, MatMul(middle, v, false, true));
}

// What flows through the columns of v out of the space that they span.
Value SvdOuterGradient(const SvdFactors& f, Value v, Value dv) {
  const Value turned = Adjoint(dv);
  Value outside = turned - MatMul(MatMul(turned, v), v, false, true);
  if (f.full) {
    const Value rest = Columns(f.v, f.rows, f.columns), drest = Columns(f.dv, f.rows, f.columns);
    outside = outside - MatMul(MatMul(v, drest, true, false), rest, false, true);
  }
  return MatMul(TimesDiagonal(f.u, SafeReciprocal(f.s)), outside);
}

Value OfSvdFactors(const SvdFactors& f) {
  const bool wide = f.rows != f.columns;
  const Value v = wide && f.full ? Columns(f.v, 0, f.rows) : f.v;
  const Value dv = wide && f.full ? Columns(f.dv, 0, f.rows) : f.dv;
  const Value inner = SvdInnerGradient(f, v, MatMul(v, dv, true, false));
  return wide ? inner + SvdOuterGradient(f, v, dv) : inner;
}

// Of singular values alone.
Value OfSingularValues(GradientScope& s) {
  GraphBuilder& b = s.builder();
  const NodeId svd = b.AddNode("Svd", {s.x()});
  const Value u = b.At(svd, 1), v = b.At(svd, 2);
  return MatMul(TimesDiagonal(u, s.dy(0)), v, false, true);
}

void SvdGradient(GradientScope& s) {
  if (!s.Bool("compute_uv")) {
    s.Set(0, OfSingularValues(s));
    return;
  }
  const PartialShape shape = s.x().shape();
  const int rank = shape.known_rank() ? shape.rank() : 0;
  const int64_t rows = rank < 2 ? kUnknownDim : shape.dim(rank - 2),
                columns = rank < 2 ? kUnknownDim : shape.dim(rank - 1);
  if (rows == kUnknownDim || columns == kUnknownDim) {
    s.Unimplemented(absl::StrCat("a matrix of unknown size: its shape is ", shape.ToString()));
    return;
  }
  SvdFactors f = {
      s.y(0), s.y(1), s.y(2), s.dy(0), s.dy(1), s.dy(2), rows, columns, s.Bool("full_matrices")};
  if (f.full && std::abs(rows - columns) > 1) {
    s.Unimplemented(absl::StrCat("full_matrices=true for ", rows, " rows and ", columns,
                                 " columns, which differ by more than 1"));
    return;
  }
  if (rows <= columns) {
    s.Set(0, OfSvdFactors(f));
    return;
  }
  // The adjoint of x has the same factors, exchanged.
  std::swap(f.u, f.v);
  std::swap(f.du, f.dv);
  std::swap(f.rows, f.columns);
  s.Set(0, Adjoint(OfSvdFactors(f)));
}

constexpr GradientRow kFactorizations[] = {
    {"Cholesky", Unary<OfCholesky>},
    {"Eig", Unary<OfEig>},
    {"Qr", QrGradient},
    {"SelfAdjointEigV2", Unary<OfSelfAdjointEig>},
    {"Svd", SvdGradient},
};

}  // namespace

absl::Span<const GradientRow> LinalgFactorizations() { return kFactorizations; }

}  // namespace tenon::gradients
