// Eig: eigenvalues and eigenvectors of general matrices. Real ones keep the order in which the
// values converge, complex ones are sorted by absolute value, as in TensorFlow.
#include <Eigen/Eigenvalues>

#include "plugin/cpu/base/kernel_util.h"
#include "plugin/cpu/linalg/eigen_maps.inc"
#include "plugin/cpu/linalg/matrix_step.h"
#include "plugin/kernels/kernel.h"

namespace tenon::cpu {
namespace {

// Sorted values may be computed in double, the others' order depends on the precision.
template <typename T>
using Element = std::conditional_t<Eigen::NumTraits<T>::IsComplex, WideElement<T>, T>;
template <typename T>
using Matrix = Eigen::Matrix<Element<T>, Eigen::Dynamic, Eigen::Dynamic>;
template <typename T>
using Solver =
    std::conditional_t<Eigen::NumTraits<T>::IsComplex, Eigen::ComplexEigenSolver<Matrix<T>>,
                       Eigen::EigenSolver<Matrix<T>>>;

template <typename T>
absl::Status Decompose(const MatrixArgs& m, bool vectors) {
  using Complex = std::complex<typename Eigen::NumTraits<T>::Real>;
  const WithDenormals denormals;
  const auto a = m.In<In<T>>(0);
  const Solver<T> solver(a.template cast<Element<T>>(), vectors);
  if (solver.info() != Eigen::Success) {
    return absl::InvalidArgumentError(
        "Eigen decomposition was not successful. The input might not be valid.");
  }
  m.Out<Out<Complex>>(0) = solver.eigenvalues().template cast<Complex>();
  if (vectors) m.Out<Out<Complex>>(1) = solver.eigenvectors().template cast<Complex>();
  return absl::OkStatus();
}

absl::Status PrepareEig(Prepare& p) {
  const DataType type = p.input_type(0);
  const bool wide = type == DataType::kDouble || type == DataType::kComplex128;
  if (p.output_type(0) != (wide ? DataType::kComplex128 : DataType::kComplex64))
    return p.Invalid("Tout must be the complex type of the precision of T");
  MatrixStep step(p);
  TENON_ASSIGN_OR_RETURN(const bool vectors, p.AttrBool("compute_v"));
  TENON_RETURN_IF_ERROR(step.ReadInputs(1));
  TENON_RETURN_IF_ERROR(step.AddEigenOutputs(vectors));
  VisitMatrixType(type, [&](auto zero) {
    step.Compute([vectors](const MatrixArgs& m) { return Decompose<decltype(zero)>(m, vectors); });
  });
  return absl::OkStatus();
}

}  // namespace

absl::Span<const CpuKernelSpec> EigenKernels() {
  static const CpuKernelSpec specs[] = {
      {"Eig", {{"T", kMatrixTypes}}, PrepareEig},
  };
  return specs;
}

}  // namespace tenon::cpu
