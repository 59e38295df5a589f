// Eigenvalues and eigenvectors of self-adjoint matrices.
#include <Eigen/Eigenvalues>

#include "plugin/cpu/base/kernel_util.h"
#include "plugin/cpu/linalg/eigen_maps.inc"
#include "plugin/cpu/linalg/matrix_step.h"
#include "plugin/kernels/kernel.h"

namespace tenon::cpu {
namespace {

// Complex matrices are computed in double, real ones as they are: so their vectors have the signs
// of TensorFlow's.
template <typename T>
using Element = std::conditional_t<Eigen::NumTraits<T>::IsComplex, WideElement<T>, T>;
template <typename T>
using Solver =
    Eigen::SelfAdjointEigenSolver<Eigen::Matrix<Element<T>, Eigen::Dynamic, Eigen::Dynamic>>;

// Only the lower triangle is read.
template <typename T>
absl::StatusOr<Solver<T>> Decompose(const In<T>& a, bool vectors) {
  const WithDenormals denormals;
  Solver<T> solver(a.rows());
  solver.compute(a.template cast<Element<T>>(),
                 vectors ? Eigen::ComputeEigenvectors : Eigen::EigenvaluesOnly);
  if (solver.info() == Eigen::Success) return solver;
  return absl::InvalidArgumentError(
      "Self-adjoint eigen decomposition was not successful. The input might not be valid.");
}

template <typename T>
absl::Status Separate(const MatrixArgs& m, bool vectors) {
  TENON_ASSIGN_OR_RETURN(const Solver<T> solver, Decompose<T>(m.In<In<T>>(0), vectors));
  m.Out<Out<T>>(0) = solver.eigenvalues().template cast<T>();
  if (vectors) m.Out<Out<T>>(1) = solver.eigenvectors().template cast<T>();
  return absl::OkStatus();
}

// The old op's only output: the eigenvalues as a first row above the vectors.
template <typename T>
absl::Status Stacked(const MatrixArgs& m) {
  TENON_ASSIGN_OR_RETURN(const Solver<T> solver, Decompose<T>(m.In<In<T>>(0), /*vectors=*/true));
  Out<T> out = m.Out<Out<T>>(0);
  out.row(0) = solver.eigenvalues().transpose();
  out.bottomRows(out.rows() - 1) = solver.eigenvectors();
  return absl::OkStatus();
}

absl::Status PrepareSeparate(Prepare& p) {
  MatrixStep step(p);
  TENON_ASSIGN_OR_RETURN(const bool vectors, p.AttrBool("compute_v"));
  TENON_RETURN_IF_ERROR(step.ReadInputs(1));
  TENON_RETURN_IF_ERROR(step.AddEigenOutputs(vectors));
  VisitMatrixType(p.input_type(0), [&](auto zero) {
    step.Compute([vectors](const MatrixArgs& m) { return Separate<decltype(zero)>(m, vectors); });
  });
  return absl::OkStatus();
}

absl::Status PrepareStacked(Prepare& p) {
  MatrixStep step(p);
  TENON_RETURN_IF_ERROR(step.ReadInputs(1));
  TENON_RETURN_IF_ERROR(step.RequireSquare(0));
  const int64_t n = step.in(0).rows;
  TENON_RETURN_IF_ERROR(step.AddMatrix(n + 1, n));
  if (p.input_type(0) == DataType::kFloat) {
    step.Compute(&Stacked<float>);
  } else {
    step.Compute(&Stacked<double>);
  }
  return absl::OkStatus();
}

}  // namespace

absl::Span<const CpuKernelSpec> SelfAdjointEigenKernels() {
  static const CpuKernelSpec specs[] = {
      {"SelfAdjointEigV2", {{"T", kMatrixTypes}}, PrepareSeparate},
      {"BatchSelfAdjointEigV2", {{"T", kMatrixTypes}}, PrepareSeparate},
      {"SelfAdjointEig", {{"T", kRealMatrixTypes}}, PrepareStacked},
      {"BatchSelfAdjointEig", {{"T", kRealMatrixTypes}}, PrepareStacked},
  };
  return specs;
}

}  // namespace tenon::cpu
