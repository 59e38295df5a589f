// Eigenvalues and eigenvectors of self-adjoint matrices.
#include "plugin/cpu/base/kernel_util.h"
#include "plugin/cpu/linalg/matrix_library_loader.h"
#include "plugin/cpu/linalg/matrix_step.h"
#include "plugin/kernels/kernel.h"
#include "plugin/kernels/kernel_spec.h"

namespace tenon::cpu {
namespace {

template <typename T>
absl::Status SelfAdjoint(MatrixRef<const T> a, bool with_vectors, MatrixRef<T> values,
                         MatrixRef<T> vectors) {
  if (FunctionsOf<T>().self_adjoint(a, with_vectors, values, vectors)) return absl::OkStatus();
  return absl::InvalidArgumentError(
      "Self-adjoint eigen decomposition was not successful. The input might not be valid.");
}

template <typename T>
absl::Status Separate(const MatrixArgs& m, bool vectors) {
  return SelfAdjoint(m.In<T>(0), vectors, m.Out<T>(0), m.Out<T>(1));
}

// The old op's only output: the eigenvalues as a first row above the vectors.
template <typename T>
absl::Status Stacked(const MatrixArgs& m) {
  const MatrixRef<T> out = m.Out<T>(0);
  const int64_t n = out.columns;
  return SelfAdjoint<T>(m.In<T>(0), /*with_vectors=*/true, {out.data, n, 1}, {out.row(1), n, n});
}

absl::Status PrepareSeparate(Prepare& p) {
  TENON_RETURN_IF_ERROR(OpenMatrixLibrary());
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
  TENON_RETURN_IF_ERROR(OpenMatrixLibrary());
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
