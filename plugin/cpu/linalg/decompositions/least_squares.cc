// Least squares in double precision: by normal equations and Cholesky, which is fast, or by a
// complete orthogonal decomposition, which also solves problems of deficient rank.
#include "plugin/cpu/linalg/decompositions/least_squares.h"

#include <Eigen/Cholesky>
#include <Eigen/QR>
#include <optional>

#include "plugin/cpu/linalg/decompositions/eigen_maps.inc"

namespace tenon::cpu {
namespace {

template <typename T>
std::optional<Matrix<T>> NormalSolution(const Matrix<T>& a, const Matrix<T>& b,
                                        double regularizer) {
  // The smaller of the two Gram matrices. With fewer rows than columns, A' inv(A A' + r) b is the
  // solution of the least norm.
  const bool tall = a.rows() >= a.cols();
  Matrix<T> gram;
  if (tall) {
    gram.noalias() = a.adjoint() * a;
  } else {
    gram.noalias() = a * a.adjoint();
  }
  gram.diagonal().array() += T(regularizer);
  const Eigen::LLT<Matrix<T>> llt(gram);
  if (llt.info() != Eigen::Success) return std::nullopt;
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

// The rank of the matrix is what `epsilon`, the precision of the stored elements, tells.
template <typename T>
Matrix<T> OrthogonalSolution(const Matrix<T>& a, const Matrix<T>& b, double epsilon) {
  Eigen::CompleteOrthogonalDecomposition<Matrix<T>> decomposition;
  // The elements were rounded to their own type: smaller pivots than that leaves are noise, though
  // they are computed in double.
  decomposition.setThreshold(epsilon * static_cast<double>(a.diagonalSize()));
  decomposition.compute(a);
  return decomposition.solve(b);
}

}  // namespace

template <typename T>
bool SolveNormalEquations(MatrixRef<const T> a, MatrixRef<const T> b, double regularizer,
                          MatrixRef<T> x) {
  const auto solution = NormalSolution<Wide<T>>(Map(a).template cast<Wide<T>>(),
                                                Map(b).template cast<Wide<T>>(), regularizer);
  if (solution) Map(x) = solution->template cast<T>();
  return solution.has_value();
}

template <typename T>
void SolveOrthogonally(MatrixRef<const T> a, MatrixRef<const T> b, MatrixRef<T> x) {
  const auto epsilon = static_cast<double>(Eigen::NumTraits<T>::epsilon());
  Map(x) = OrthogonalSolution<Wide<T>>(Map(a).template cast<Wide<T>>(),
                                       Map(b).template cast<Wide<T>>(), epsilon)
               .template cast<T>();
}

#define TENON_INSTANTIATE(T)                                                         \
  template bool SolveNormalEquations(MatrixRef<const T>, MatrixRef<const T>, double, \
                                     MatrixRef<T>);                                  \
  template void SolveOrthogonally(MatrixRef<const T>, MatrixRef<const T>, MatrixRef<T>);
TENON_FOR_MATRIX_TYPES(TENON_INSTANTIATE)
#undef TENON_INSTANTIATE

}  // namespace tenon::cpu
