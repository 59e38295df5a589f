// Least-squares solutions of systems with more or fewer equations than unknowns.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "plugin/cpu/base/kernel_util.h"
#include "plugin/cpu/linalg/matrix_library_loader.h"
#include "plugin/cpu/linalg/matrix_step.h"
#include "plugin/kernels/kernel.h"
#include "plugin/kernels/kernel_spec.h"

namespace tenon::cpu {
namespace {

template <typename T>
absl::Status SolveLeastSquares(const MatrixArgs& m, bool fast) {
  const auto regularizer = m.InScalar<double>(2);
  if (!(regularizer >= 0)) {
    return absl::InvalidArgumentError(
        absl::StrCat("l2_regularizer must be >= 0, it is ", regularizer));
  }
  const auto a = m.In<T>(0), b = m.In<T>(1);
  const auto x = m.Out<T>(0);
  if (a.rows == 0 || a.columns == 0) {
    // No equations, or no unknowns.
    std::fill_n(x.data, x.rows * x.columns, T());
  } else if (!fast) {
    FunctionsOf<T>().orthogonal_solution(a, b, x);
  } else if (!FunctionsOf<T>().normal_equations(a, b, regularizer, x)) {
    return absl::InvalidArgumentError(
        "Input matrix was rank deficient or ill-conditioned. Try setting fast=False or provide a "
        "larger l2_regularizer > 0.");
  }
  return absl::OkStatus();
}

absl::Status PrepareLeastSquares(Prepare& p) {
  TENON_RETURN_IF_ERROR(OpenMatrixLibrary());
  MatrixStep step(p);
  TENON_ASSIGN_OR_RETURN(const bool fast, p.AttrBool("fast"));
  TENON_RETURN_IF_ERROR(step.ReadInputs(2));
  TENON_RETURN_IF_ERROR(step.RequireSameRows());
  TENON_RETURN_IF_ERROR(step.ReadScalarInput(2));
  TENON_RETURN_IF_ERROR(step.AddMatrix(step.in(0).columns, step.in(1).columns));
  VisitMatrixType(p.input_type(0), [&](auto zero) {
    step.Compute(
        [fast](const MatrixArgs& m) { return SolveLeastSquares<decltype(zero)>(m, fast); });
  });
  return absl::OkStatus();
}

}  // namespace

absl::Span<const CpuKernelSpec> LeastSquaresKernels() {
  static const CpuKernelSpec specs[] = {
      {"MatrixSolveLs", {{"T", kMatrixTypes}}, PrepareLeastSquares},
      {"BatchMatrixSolveLs", {{"T", kMatrixTypes}}, PrepareLeastSquares},
  };
  return specs;
}

}  // namespace tenon::cpu
