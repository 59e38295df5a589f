// Cholesky decomposition by Eigen, and its gradient in matrix form.
#include "plugin/cpu/linalg/decompositions/cholesky.h"

#include <Eigen/Cholesky>
#include <limits>

#include "plugin/cpu/linalg/decompositions/eigen_maps.inc"

namespace tenon::cpu {

template <typename T>
void DecomposeCholesky(MatrixRef<const T> a, MatrixRef<T> l) {
  Out<T> out = Map(l);
  const Eigen::LLT<Stored<T>> llt(Map(a));
  if (llt.info() == Eigen::Success) {
    out = llt.matrixL();
  } else {
    using Real = typename Eigen::NumTraits<T>::Real;
    out.setZero();
    // A matrix that is not positive definite has no factor: NaN in its place, no error, as in
    // TensorFlow.
    out.template triangularView<Eigen::Lower>().setConstant(
        T(std::numeric_limits<Real>::quiet_NaN()));
  }
}

// With L the factor, G its gradient and P the lower triangle of L'G with half its diagonal:
// S = inv(L') P inv(L); the gradient of the input is (S + S') / 2.
template <typename T>
void CholeskyGradient(MatrixRef<const T> factor, MatrixRef<const T> factor_gradient,
                      MatrixRef<T> gradient) {
  // Only the lower triangles count, whatever the inputs hold above them.
  const Stored<T> l = Map(factor).template triangularView<Eigen::Lower>();
  const Stored<T> g = Map(factor_gradient).template triangularView<Eigen::Lower>();
  const auto upper = l.transpose().template triangularView<Eigen::Upper>();
  const Stored<T> product = l.transpose() * g;
  Stored<T> s = product.template triangularView<Eigen::Lower>();
  s.diagonal() /= T(2);
  upper.solveInPlace(s);
  // S = inv(L') P inv(L) takes two solutions with L': the second one on the transpose. `t` ends as
  // S'.
  Stored<T> t = s.transpose();
  upper.solveInPlace(t);
  Map(gradient) = (t + t.transpose()) / T(2);
}

#define TENON_INSTANTIATE(T) template void DecomposeCholesky(MatrixRef<const T>, MatrixRef<T>);
TENON_FOR_MATRIX_TYPES(TENON_INSTANTIATE)
#undef TENON_INSTANTIATE

template void CholeskyGradient(MatrixRef<const float>, MatrixRef<const float>, MatrixRef<float>);
template void CholeskyGradient(MatrixRef<const double>, MatrixRef<const double>, MatrixRef<double>);

}  // namespace tenon::cpu
