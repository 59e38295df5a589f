// Svd: singular value decomposition.
#include <algorithm>

#include "plugin/cpu/base/kernel_util.h"
#include "plugin/cpu/linalg/matrix_library_loader.h"
#include "plugin/cpu/linalg/matrix_step.h"
#include "plugin/kernels/kernel.h"
#include "plugin/kernels/kernel_spec.h"

namespace tenon::cpu {
namespace {

absl::StatusOr<SingularVectors> ReadSingularVectors(const Prepare& p) {
  TENON_ASSIGN_OR_RETURN(const bool compute, p.AttrBool("compute_uv"));
  TENON_ASSIGN_OR_RETURN(const bool full, p.AttrBool("full_matrices"));
  if (!compute) return SingularVectors::kNone;
  return full ? SingularVectors::kFull : SingularVectors::kThin;
}

absl::Status PrepareSvd(Prepare& p) {
  TENON_RETURN_IF_ERROR(OpenMatrixLibrary());
  MatrixStep step(p);
  TENON_ASSIGN_OR_RETURN(const SingularVectors vectors, ReadSingularVectors(p));
  TENON_RETURN_IF_ERROR(step.ReadInputs(1));
  const auto [rows, columns] = step.in(0);
  const int64_t smaller = std::min(rows, columns);
  TENON_RETURN_IF_ERROR(step.AddVector(smaller));
  if (vectors == SingularVectors::kNone) {
    step.AddNothing();
    step.AddNothing();
  } else {
    const bool full = vectors == SingularVectors::kFull;
    TENON_RETURN_IF_ERROR(step.AddMatrix(rows, full ? rows : smaller));
    TENON_RETURN_IF_ERROR(step.AddMatrix(columns, full ? columns : smaller));
  }
  VisitMatrixType(p.input_type(0), [&](auto zero) {
    using T = decltype(zero);
    step.Compute([vectors](const MatrixArgs& m) {
      FunctionsOf<T>().svd(m.In<T>(0), vectors, m.Out<T>(0), m.Out<T>(1), m.Out<T>(2));
      return absl::OkStatus();
    });
  });
  return absl::OkStatus();
}

}  // namespace

absl::Span<const CpuKernelSpec> SvdKernels() {
  static const CpuKernelSpec specs[] = {
      {"Svd", {{"T", kMatrixTypes}}, PrepareSvd},
      {"BatchSvd", {{"T", kMatrixTypes}}, PrepareSvd},
  };
  return specs;
}

}  // namespace tenon::cpu
