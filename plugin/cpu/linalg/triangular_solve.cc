// Systems of equations with a triangular matrix.
#include "plugin/cpu/base/kernel_util.h"
#include "plugin/cpu/linalg/matrix_library_loader.h"
#include "plugin/cpu/linalg/matrix_step.h"
#include "plugin/kernels/kernel.h"
#include "plugin/kernels/kernel_spec.h"

namespace tenon::cpu {
namespace {

template <typename T>
absl::Status SolveTriangle(const MatrixArgs& m, bool lower, bool adjoint) {
  FunctionsOf<T>().triangular(m.In<T>(0), lower, adjoint, m.In<T>(1), m.Out<T>(0));
  return absl::OkStatus();
}

absl::Status PrepareTriangularSolve(Prepare& p) {
  TENON_RETURN_IF_ERROR(OpenMatrixLibrary());
  MatrixStep step(p);
  TENON_ASSIGN_OR_RETURN(const bool lower, p.AttrBool("lower"));
  TENON_ASSIGN_OR_RETURN(const bool adjoint, p.AttrBool("adjoint"));
  TENON_RETURN_IF_ERROR(step.ReadBroadcastInputs());
  TENON_RETURN_IF_ERROR(step.RequireSquare(0));
  TENON_RETURN_IF_ERROR(step.RequireSameRows());
  TENON_RETURN_IF_ERROR(step.AddMatrix(step.in(1).rows, step.in(1).columns));
  VisitMatrixType(p.input_type(0), [&](auto zero) {
    step.Compute([lower, adjoint](const MatrixArgs& m) {
      return SolveTriangle<decltype(zero)>(m, lower, adjoint);
    });
  });
  return absl::OkStatus();
}

}  // namespace

absl::Span<const CpuKernelSpec> TriangularSolveKernels() {
  static const CpuKernelSpec specs[] = {
      {"MatrixTriangularSolve", {{"T", kMatrixTypes}}, PrepareTriangularSolve},
      {"BatchMatrixTriangularSolve", {{"T", kMatrixTypes}}, PrepareTriangularSolve},
  };
  return specs;
}

}  // namespace tenon::cpu
