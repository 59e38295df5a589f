// Systems of equations with a triangular matrix.

#include "plugin/cpu/base/kernel_util.h"
#include "plugin/cpu/linalg/eigen_maps.inc"
#include "plugin/cpu/linalg/matrix_step.h"
#include "plugin/kernels/kernel.h"

namespace tenon::cpu {
namespace {

template <typename T, typename A>
void SolveInPlace(const A& a, bool lower, Out<T> x) {
  if (lower) {
    a.template triangularView<Eigen::Lower>().solveInPlace(x);
  } else {
    a.template triangularView<Eigen::Upper>().solveInPlace(x);
  }
}

// A singular matrix gives inf and NaN, as in TensorFlow.
template <typename T>
absl::Status Solve(const MatrixArgs& m, bool lower, bool adjoint) {
  const In<T> a = m.In<In<T>>(0);
  Out<T> x = m.Out<Out<T>>(0);
  x = m.In<In<T>>(1);
  if (adjoint) {
    SolveInPlace<T>(Stored<T>(a.adjoint()), !lower, x);
  } else {
    SolveInPlace<T>(a, lower, x);
  }
  return absl::OkStatus();
}

absl::Status PrepareSolve(Prepare& p) {
  MatrixStep step(p);
  TENON_ASSIGN_OR_RETURN(const bool lower, p.AttrBool("lower"));
  TENON_ASSIGN_OR_RETURN(const bool adjoint, p.AttrBool("adjoint"));
  TENON_RETURN_IF_ERROR(step.ReadBroadcastInputs());
  TENON_RETURN_IF_ERROR(step.RequireSquare(0));
  TENON_RETURN_IF_ERROR(step.RequireSameRows());
  TENON_RETURN_IF_ERROR(step.AddMatrix(step.in(1).rows, step.in(1).columns));
  VisitMatrixType(p.input_type(0), [&](auto zero) {
    step.Compute(
        [lower, adjoint](const MatrixArgs& m) { return Solve<decltype(zero)>(m, lower, adjoint); });
  });
  return absl::OkStatus();
}

}  // namespace

absl::Span<const CpuKernelSpec> TriangularSolveKernels() {
  static const CpuKernelSpec specs[] = {
      {"MatrixTriangularSolve", {{"T", kMatrixTypes}}, PrepareSolve},
      {"BatchMatrixTriangularSolve", {{"T", kMatrixTypes}}, PrepareSolve},
  };
  return specs;
}

}  // namespace tenon::cpu
