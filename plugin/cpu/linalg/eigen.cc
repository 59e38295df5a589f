// Eig: eigenvalues and eigenvectors of general matrices.
#include <cmath>
#include <complex>

#include "plugin/cpu/base/kernel_util.h"
#include "plugin/cpu/linalg/matrix_library_loader.h"
#include "plugin/cpu/linalg/matrix_step.h"
#include "plugin/kernels/kernel.h"
#include "plugin/kernels/kernel_spec.h"

namespace tenon::cpu {
namespace {

template <typename T>
absl::Status GeneralEigen(const MatrixArgs& m, bool vectors) {
  using Complex = typename MatrixFunctions<T>::Complex;
  if (FunctionsOf<T>().eigen(m.In<T>(0), vectors, m.Out<Complex>(0), m.Out<Complex>(1)))
    return absl::OkStatus();
  return absl::InvalidArgumentError(
      "Eigen decomposition was not successful. The input might not be valid.");
}

absl::Status PrepareEig(Prepare& p) {
  const DataType type = p.input_type(0);
  const bool wide = type == DataType::kDouble || type == DataType::kComplex128;
  if (p.output_type(0) != (wide ? DataType::kComplex128 : DataType::kComplex64))
    return p.Invalid("Tout must be the complex type of the precision of T");
  TENON_RETURN_IF_ERROR(OpenMatrixLibrary());
  MatrixStep step(p);
  TENON_ASSIGN_OR_RETURN(const bool vectors, p.AttrBool("compute_v"));
  TENON_RETURN_IF_ERROR(step.ReadInputs(1));
  TENON_RETURN_IF_ERROR(step.AddEigenOutputs(vectors));
  VisitMatrixType(type, [&](auto zero) {
    step.Compute(
        [vectors](const MatrixArgs& m) { return GeneralEigen<decltype(zero)>(m, vectors); });
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
