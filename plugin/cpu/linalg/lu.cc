// What is made from an LU decomposition with row pivots: the decomposition itself, inverses,
// solutions, determinants.
#include <Eigen/LU>
#include <cmath>
#include <complex>

#include "plugin/cpu/base/kernel_util.h"
#include "plugin/cpu/linalg/eigen_maps.inc"
#include "plugin/cpu/linalg/matrix_step.h"
#include "plugin/kernels/kernel.h"

namespace tenon::cpu {
namespace {

template <typename T>
using Lu = Eigen::PartialPivLU<Stored<T>>;

// Partial pivots cannot tell a singular matrix for sure, but an exact zero is one.
template <typename T>
absl::Status CheckPivots(const Lu<T>& lu) {
  if (lu.matrixLU().diagonal().cwiseAbs().minCoeff() > 0) return absl::OkStatus();
  return absl::InvalidArgumentError("Input matrix is not invertible.");
}

template <typename T>
Lu<T> Decompose(const In<T>& a, bool adjoint) {
  return adjoint ? Lu<T>(Stored<T>(a.adjoint())) : Lu<T>(a);
}

template <typename T>
absl::Status Invert(const MatrixArgs& m, bool adjoint) {
  const Lu<T> lu = Decompose<T>(m.In<In<T>>(0), adjoint);
  TENON_RETURN_IF_ERROR(CheckPivots(lu));
  m.Out<Out<T>>(0) = lu.inverse();
  return absl::OkStatus();
}

// In half the pivots would be too inexact to be of use.
absl::Status InvertHalf(const MatrixArgs& m, bool adjoint) {
  const Stored<float> a = m.In<In<Eigen::half>>(0).cast<float>();
  const Lu<float> lu = Decompose<float>(In<float>(a.data(), a.rows(), a.cols()), adjoint);
  TENON_RETURN_IF_ERROR(CheckPivots(lu));
  m.Out<Out<Eigen::half>>(0) = lu.inverse().cast<Eigen::half>();
  return absl::OkStatus();
}

template <typename T>
absl::Status Solve(const MatrixArgs& m, bool adjoint) {
  const Lu<T> lu = Decompose<T>(m.In<In<T>>(0), adjoint);
  TENON_RETURN_IF_ERROR(CheckPivots(lu));
  m.Out<Out<T>>(0) = lu.solve(m.In<In<T>>(1));
  return absl::OkStatus();
}

template <typename T, typename Index>
absl::Status Factorize(const MatrixArgs& m) {
  const Lu<T> lu(m.In<In<T>>(0));
  m.Out<Out<T>>(0) = lu.matrixLU();
  // Row i of the product of the factors is row p[i] of the input.
  const auto& position = lu.permutationP().indices();
  Index* p = m.Out<MatrixRef<Index>>(1).data;
  for (Eigen::Index row = 0; row < position.size(); ++row)
    p[position[row]] = static_cast<Index>(row);
  return CheckPivots(lu);
}

template <typename Real>
Real SignOf(Real x) {
  return x > 0 ? Real{1} : x < 0 ? Real{-1} : x;
}
template <typename Real>
std::complex<Real> SignOf(std::complex<Real> x) {
  const Real size = std::abs(x);
  return size == 0 ? x : x / size;
}

// A determinant as sign (for complex numbers: direction) and logarithm of the absolute value, so
// that it cannot overflow on the way. Of a singular matrix 0 and -inf.
template <typename T>
struct LogDeterminant {
  using Real = typename Eigen::NumTraits<T>::Real;
  T sign = T(1);
  double log = 0;

  explicit LogDeterminant(const In<T>& a) {
    if (a.size() == 0) return;
    const Lu<T> lu(a);
    // Each exchange of rows turns the sign.
    sign = T(static_cast<Real>(lu.permutationP().determinant()));
    for (Eigen::Index i = 0; i < a.rows(); ++i) {
      const T pivot = lu.matrixLU()(i, i);
      log += std::log(static_cast<double>(std::abs(pivot)));
      // What is divided by an infinite complex pivot is NaN in TensorFlow.
      if (kIsComplex<T> && i + 1 < a.rows() && std::isinf(log) && log > 0) log = NAN;
      sign *= SignOf(pivot);
    }
  }
};

template <typename T>
absl::Status Determinant(const MatrixArgs& m) {
  const LogDeterminant<T> d(m.In<In<T>>(0));
  using Real = typename Eigen::NumTraits<T>::Real;
  *m.Out<MatrixRef<T>>(0).data = d.sign * static_cast<Real>(std::exp(d.log));
  return absl::OkStatus();
}

template <typename T>
absl::Status SignAndLogDeterminant(const MatrixArgs& m) {
  const LogDeterminant<T> d(m.In<In<T>>(0));
  using Real = typename Eigen::NumTraits<T>::Real;
  *m.Out<MatrixRef<T>>(0).data = d.sign;
  *m.Out<MatrixRef<T>>(1).data = T(static_cast<Real>(d.log));
  return absl::OkStatus();
}

absl::Status ReadSquares(MatrixStep& step, int inputs) {
  TENON_RETURN_IF_ERROR(step.ReadInputs(inputs));
  return step.RequireSquare(0);
}

absl::Status PrepareInverse(Prepare& p) {
  MatrixStep step(p);
  TENON_ASSIGN_OR_RETURN(const bool adjoint, p.AttrBool("adjoint"));
  TENON_RETURN_IF_ERROR(ReadSquares(step, 1));
  TENON_RETURN_IF_ERROR(step.AddMatrix(step.in(0).rows, step.in(0).rows));
  if (p.input_type(0) == DataType::kHalf)
    step.Compute([adjoint](const MatrixArgs& m) { return InvertHalf(m, adjoint); });
  VisitMatrixType(p.input_type(0), [&](auto zero) {
    step.Compute([adjoint](const MatrixArgs& m) { return Invert<decltype(zero)>(m, adjoint); });
  });
  return absl::OkStatus();
}

absl::Status PrepareSolve(Prepare& p) {
  MatrixStep step(p);
  TENON_ASSIGN_OR_RETURN(const bool adjoint, p.AttrBool("adjoint"));
  TENON_RETURN_IF_ERROR(ReadSquares(step, 2));
  TENON_RETURN_IF_ERROR(step.RequireSameRows());
  TENON_RETURN_IF_ERROR(step.AddMatrix(step.in(1).rows, step.in(1).columns));
  VisitMatrixType(p.input_type(0), [&](auto zero) {
    step.Compute([adjoint](const MatrixArgs& m) { return Solve<decltype(zero)>(m, adjoint); });
  });
  return absl::OkStatus();
}

absl::Status PrepareLu(Prepare& p) {
  MatrixStep step(p);
  TENON_RETURN_IF_ERROR(ReadSquares(step, 1));
  TENON_RETURN_IF_ERROR(step.AddMatrix(step.in(0).rows, step.in(0).rows));
  TENON_RETURN_IF_ERROR(step.AddVector(step.in(0).rows));
  VisitMatrixType(p.input_type(0), [&](auto zero) {
    using T = decltype(zero);
    if (p.output_type(1) == DataType::kInt64) {
      step.Compute(&Factorize<T, int64_t>);
    } else {
      step.Compute(&Factorize<T, int32_t>);
    }
  });
  return absl::OkStatus();
}

absl::Status PrepareDeterminant(Prepare& p) {
  MatrixStep step(p);
  TENON_RETURN_IF_ERROR(ReadSquares(step, 1));
  TENON_RETURN_IF_ERROR(step.AddScalar());
  VisitMatrixType(p.input_type(0), [&](auto zero) { step.Compute(&Determinant<decltype(zero)>); });
  return absl::OkStatus();
}

absl::Status PrepareLogDeterminant(Prepare& p) {
  MatrixStep step(p);
  TENON_RETURN_IF_ERROR(ReadSquares(step, 1));
  TENON_RETURN_IF_ERROR(step.AddScalar());
  TENON_RETURN_IF_ERROR(step.AddScalar());
  VisitMatrixType(p.input_type(0),
                  [&](auto zero) { step.Compute(&SignAndLogDeterminant<decltype(zero)>); });
  return absl::OkStatus();
}

}  // namespace

absl::Span<const CpuKernelSpec> LuKernels() {
  constexpr uint64_t kHalf = TypeBit(DataType::kHalf);
  static const CpuKernelSpec specs[] = {
      {"Lu", {{"T", kMatrixTypes}, {"output_idx_type", kIndexTypes}}, PrepareLu},
      {"MatrixInverse", {{"T", kMatrixTypes | kHalf}}, PrepareInverse},
      {"BatchMatrixInverse", {{"T", kMatrixTypes}}, PrepareInverse},
      {"MatrixSolve", {{"T", kMatrixTypes}}, PrepareSolve},
      {"BatchMatrixSolve", {{"T", kMatrixTypes}}, PrepareSolve},
      {"MatrixDeterminant", {{"T", kMatrixTypes}}, PrepareDeterminant},
      {"BatchMatrixDeterminant", {{"T", kMatrixTypes}}, PrepareDeterminant},
      {"LogMatrixDeterminant", {{"T", kMatrixTypes}}, PrepareLogDeterminant},
  };
  return specs;
}

}  // namespace tenon::cpu
