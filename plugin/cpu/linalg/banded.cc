// Matrices stored as their diagonals: BandedTriangularSolve, TridiagonalMatMul. The tridiagonal
// systems are tridiagonal_solve.cc's.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "plugin/cpu/base/element.h"
#include "plugin/cpu/base/kernel_util.h"
#include "plugin/cpu/linalg/matrix_step.h"
#include "plugin/kernels/kernel.h"
#include "plugin/kernels/kernel_spec.h"

namespace tenon::cpu {
namespace {

// A triangular matrix as `bands` rows: element (i, j) stands in column i, in row i - j if it is a
// lower triangle, else in row bands - 1 - (j - i).
template <typename T>
struct Bands {
  MatrixRef<const T> stored;
  bool lower;

  T at(int64_t i, int64_t j) const { return stored(lower ? i - j : stored.rows - 1 - (j - i), i); }
};

// Substitution, row by row from the end that has one unknown.
template <typename T>
absl::Status SolveBanded(const MatrixArgs& m, bool lower, bool adjoint) {
  const Bands<T> a{m.In<T>(0), lower};
  const auto b = m.In<T>(1);
  const auto x = m.Out<T>(0);
  const int64_t n = b.rows, bands = a.stored.rows;
  for (int64_t i = 0; i < n; ++i) {
    // Checked before any solution is written.
    if (a.at(i, i) == T(0)) return absl::InvalidArgumentError("Input matrix is not invertible.");
  }
  // The adjoint of a lower triangle is an upper one.
  const bool forward = lower != adjoint;
  for (int64_t step = 0; step < n; ++step) {
    const int64_t i = forward ? step : n - 1 - step;
    const int64_t first = forward ? std::max<int64_t>(0, i - bands + 1) : i + 1;
    const int64_t last = forward ? i : std::min(n, i + bands);
    // Row i of x is the right-hand side from which the known unknowns are taken away, then the
    // solution.
    std::copy_n(b.row(i), b.columns, x.row(i));
    for (int64_t j = first; j < last; ++j) {
      const T factor = adjoint ? Conjugate(a.at(j, i)) : a.at(i, j);
      for (int64_t c = 0; c < b.columns; ++c) x(i, c) -= factor * x(j, c);
    }
    const T pivot = adjoint ? Conjugate(a.at(i, i)) : a.at(i, i);
    for (int64_t c = 0; c < b.columns; ++c) x(i, c) /= pivot;
  }
  return absl::OkStatus();
}

template <typename T>
absl::Status MultiplyTridiagonal(const MatrixArgs& m) {
  const T* above = m.In<T>(0).data;
  const T* diagonal = m.In<T>(1).data;
  const T* below = m.In<T>(2).data;
  const auto b = m.In<T>(3);
  const auto out = m.Out<T>(0);
  for (int64_t i = 0; i < b.rows; ++i) {
    for (int64_t c = 0; c < b.columns; ++c) {
      T sum = diagonal[i] * b(i, c);
      // All three diagonals are as long as the matrix. below[0] and the last of `above` lie outside
      // of it.
      if (i > 0) sum += below[i] * b(i - 1, c);
      if (i + 1 < b.rows) sum += above[i] * b(i + 1, c);
      out(i, c) = sum;
    }
  }
  return absl::OkStatus();
}

absl::Status PrepareBanded(Prepare& p) {
  MatrixStep step(p);
  TENON_ASSIGN_OR_RETURN(const bool lower, p.AttrBool("lower"));
  TENON_ASSIGN_OR_RETURN(const bool adjoint, p.AttrBool("adjoint"));
  TENON_RETURN_IF_ERROR(step.ReadBroadcastInputs());
  for (int i = 0; i < 2; ++i) {
    if (p.input_shape(i).num_elements() == 0)
      return p.Invalid(absl::StrCat("input ", i, " must not be empty"));
  }
  if (step.in(0).columns != step.in(1).rows) {
    return p.Invalid(absl::StrCat("the bands have ", step.in(0).columns,
                                  " columns, the right-hand side ", step.in(1).rows, " rows"));
  }
  TENON_RETURN_IF_ERROR(step.AddMatrix(step.in(1).rows, step.in(1).columns));
  VisitMatrixType(p.input_type(0), [&](auto zero) {
    step.Compute([lower, adjoint](const MatrixArgs& m) {
      return SolveBanded<decltype(zero)>(m, lower, adjoint);
    });
  });
  return absl::OkStatus();
}

absl::Status PrepareTridiagonalProduct(Prepare& p) {
  MatrixStep step(p);
  TENON_RETURN_IF_ERROR(step.ReadInputs(4));
  const MatrixSize size = step.in(3);
  for (int i = 0; i < 3; ++i) {
    if (step.in(i).rows != 1 || step.in(i).columns != size.rows) {
      return p.Invalid(absl::StrCat("input ", i, " must hold one diagonal of ", size.rows,
                                    " elements, it is ", p.input_shape(i).ToString()));
    }
  }
  TENON_RETURN_IF_ERROR(step.AddMatrix(size.rows, size.columns));
  VisitMatrixType(p.input_type(0),
                  [&](auto zero) { step.Compute(&MultiplyTridiagonal<decltype(zero)>); });
  return absl::OkStatus();
}

}  // namespace

absl::Span<const CpuKernelSpec> BandedKernels() {
  static const CpuKernelSpec specs[] = {
      {"BandedTriangularSolve", {{"T", kMatrixTypes}}, PrepareBanded},
      {"TridiagonalMatMul", {{"T", kMatrixTypes}}, PrepareTridiagonalProduct},
  };
  return specs;
}

}  // namespace tenon::cpu
