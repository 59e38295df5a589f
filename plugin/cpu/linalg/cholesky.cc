// Cholesky decomposition and its gradient.
#include <Eigen/Cholesky>
#include <limits>

#include "plugin/cpu/base/kernel_util.h"
#include "plugin/cpu/linalg/eigen_maps.inc"
#include "plugin/cpu/linalg/matrix_step.h"
#include "plugin/kernels/kernel.h"

namespace tenon::cpu {
namespace {

// Only the lower triangle is read. As in TensorFlow a matrix that is not positive definite is no
// error: its factor is NaN.
template <typename T>
absl::Status Factorize(const MatrixArgs& m) {
  Out<T> l = m.Out<Out<T>>(0);
  const Eigen::LLT<Stored<T>> llt(m.In<In<T>>(0));
  if (llt.info() == Eigen::Success) {
    l = llt.matrixL();
  } else {
    using Real = typename Eigen::NumTraits<T>::Real;
    l.setZero();
    l.template triangularView<Eigen::Lower>().setConstant(
        T(std::numeric_limits<Real>::quiet_NaN()));
  }
  return absl::OkStatus();
}

// With L the factor, G its gradient and P the lower triangle of L'G with half its diagonal:
// S = inv(L') P inv(L); the gradient of the input is (S + S') / 2.
template <typename T>
absl::Status Gradient(const MatrixArgs& m) {
  const Stored<T> l = m.In<In<T>>(0).template triangularView<Eigen::Lower>();
  const Stored<T> g = m.In<In<T>>(1).template triangularView<Eigen::Lower>();
  const auto upper = l.transpose().template triangularView<Eigen::Upper>();
  const Stored<T> product = l.transpose() * g;
  Stored<T> s = product.template triangularView<Eigen::Lower>();
  s.diagonal() /= T(2);
  upper.solveInPlace(s);
  Stored<T> t = s.transpose();
  upper.solveInPlace(t);
  m.Out<Out<T>>(0) = (t + t.transpose()) / T(2);
  return absl::OkStatus();
}

absl::Status PrepareCholesky(Prepare& p) {
  MatrixStep step(p);
  TENON_RETURN_IF_ERROR(step.ReadInputs(1));
  TENON_RETURN_IF_ERROR(step.RequireSquare(0));
  TENON_RETURN_IF_ERROR(step.AddMatrix(step.in(0).rows, step.in(0).rows));
  VisitMatrixType(p.input_type(0), [&](auto zero) { step.Compute(&Factorize<decltype(zero)>); });
  return absl::OkStatus();
}

absl::Status PrepareGradient(Prepare& p) {
  MatrixStep step(p);
  TENON_RETURN_IF_ERROR(step.ReadInputs(2));
  TENON_RETURN_IF_ERROR(step.RequireSquare(0));
  TENON_RETURN_IF_ERROR(step.RequireSquare(1));
  TENON_RETURN_IF_ERROR(step.RequireSameRows());
  TENON_RETURN_IF_ERROR(step.AddMatrix(step.in(0).rows, step.in(0).rows));
  if (p.input_type(0) == DataType::kFloat) {
    step.Compute(&Gradient<float>);
  } else {
    step.Compute(&Gradient<double>);
  }
  return absl::OkStatus();
}

}  // namespace

absl::Span<const CpuKernelSpec> CholeskyKernels() {
  static const CpuKernelSpec specs[] = {
      {"Cholesky", {{"T", kMatrixTypes}}, PrepareCholesky},
      {"BatchCholesky", {{"T", kRealMatrixTypes}}, PrepareCholesky},
      {"CholeskyGrad", {{"T", kRealMatrixTypes}}, PrepareGradient},
      {"BatchCholeskyGrad", {{"T", kRealMatrixTypes}}, PrepareGradient},
  };
  return specs;
}

}  // namespace tenon::cpu
