// Least-squares solutions of systems with more or fewer equations than unknowns, computed in
// double.
#include <Eigen/Cholesky>
#include <Eigen/QR>

#include "absl/strings/str_cat.h"
#include "plugin/cpu/base/kernel_util.h"
#include "plugin/cpu/linalg/eigen_maps.inc"
#include "plugin/cpu/linalg/matrix_step.h"
#include "plugin/kernels/kernel.h"

namespace tenon::cpu {
namespace {

template <typename T>
using Matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>;

// The normal equations, of the first kind (A'A + cI) X = A'B if there are more equations, else of
// the second (AA' + cI) Z = B, X = A'Z. Good if A has full rank and a moderate condition.
template <typename T>
absl::StatusOr<Matrix<T>> SolveNormalEquations(const Matrix<T>& a, const Matrix<T>& b,
                                               double regularizer) {
  const bool tall = a.rows() >= a.cols();
  Matrix<T> gram;
  if (tall) {
    gram.noalias() = a.adjoint() * a;
  } else {
    gram.noalias() = a * a.adjoint();
  }
  gram.diagonal().array() += T(regularizer);
  const Eigen::LLT<Matrix<T>> llt(gram);
  if (llt.info() != Eigen::Success) {
    return absl::InvalidArgumentError(
        "Input matrix was rank deficient or ill-conditioned. Try setting fast=False or provide a "
        "larger l2_regularizer > 0.");
  }
  Matrix<T> x;
  if (tall) {
    x.noalias() = a.adjoint() * b;
    llt.solveInPlace(x);
  } else {
    Matrix<T> z = b;  // NOLINT: Eigen takes by const reference what it solves in place
    llt.solveInPlace(z);
    x.noalias() = a.adjoint() * z;
  }
  return x;
}

// The solution of least norm, of a matrix of any rank; the rank is what `epsilon`, the precision of
// the stored elements, tells.
template <typename T>
Matrix<T> SolveOrthogonally(const Matrix<T>& a, const Matrix<T>& b, double epsilon) {
  Eigen::CompleteOrthogonalDecomposition<Matrix<T>> decomposition;
  // The elements were rounded to their own type: smaller pivots than that leaves are noise, though
  // they are computed in double.
  decomposition.setThreshold(epsilon * static_cast<double>(a.diagonalSize()));
  decomposition.compute(a);
  return decomposition.solve(b);
}

template <typename T>
absl::Status Solve(const MatrixArgs& m, bool fast) {
  const auto regularizer = m.InScalar<double>(2);
  if (!(regularizer >= 0)) {
    return absl::InvalidArgumentError(
        absl::StrCat("l2_regularizer must be >= 0, it is ", regularizer));
  }
  using Wide = WideElement<T>;
  const Matrix<Wide> a = m.In<In<T>>(0).template cast<Wide>();
  const Matrix<Wide> b = m.In<In<T>>(1).template cast<Wide>();
  Out<T> x = m.Out<Out<T>>(0);
  if (a.size() == 0) {
    x.setZero();
  } else if (fast) {
    TENON_ASSIGN_OR_RETURN(const Matrix<Wide> solution, SolveNormalEquations(a, b, regularizer));
    x = solution.template cast<T>();
  } else {
    const double epsilon = static_cast<double>(Eigen::NumTraits<T>::epsilon());
    x = SolveOrthogonally(a, b, epsilon).template cast<T>();
  }
  return absl::OkStatus();
}

absl::Status PrepareSolve(Prepare& p) {
  MatrixStep step(p);
  TENON_ASSIGN_OR_RETURN(const bool fast, p.AttrBool("fast"));
  TENON_RETURN_IF_ERROR(step.ReadInputs(2));
  TENON_RETURN_IF_ERROR(step.RequireSameRows());
  TENON_RETURN_IF_ERROR(step.ReadScalarInput(2));
  TENON_RETURN_IF_ERROR(step.AddMatrix(step.in(0).columns, step.in(1).columns));
  VisitMatrixType(p.input_type(0), [&](auto zero) {
    step.Compute([fast](const MatrixArgs& m) { return Solve<decltype(zero)>(m, fast); });
  });
  return absl::OkStatus();
}

}  // namespace

absl::Span<const CpuKernelSpec> LeastSquaresKernels() {
  static const CpuKernelSpec specs[] = {
      {"MatrixSolveLs", {{"T", kMatrixTypes}}, PrepareSolve},
      {"BatchMatrixSolveLs", {{"T", kMatrixTypes}}, PrepareSolve},
  };
  return specs;
}

}  // namespace tenon::cpu
