// Cholesky decomposition and its gradient.
#include <type_traits>

#include "plugin/cpu/base/kernel_util.h"
#include "plugin/cpu/linalg/matrix_library_loader.h"
#include "plugin/cpu/linalg/matrix_step.h"
#include "plugin/kernels/kernel.h"
#include "plugin/kernels/kernel_spec.h"

namespace tenon::cpu {
namespace {

template <typename T>
absl::Status CholeskyFactor(const MatrixArgs& m) {
  FunctionsOf<T>().cholesky(m.In<T>(0), m.Out<T>(0));
  return absl::OkStatus();
}

template <typename T>
absl::Status FactorGradient(const MatrixArgs& m) {
  const MatrixLibrary& library = OpenedMatrixLibrary();
  if constexpr (std::is_same_v<T, float>) {
    library.cholesky_gradient_f32(m.In<T>(0), m.In<T>(1), m.Out<T>(0));
  } else {
    library.cholesky_gradient_f64(m.In<T>(0), m.In<T>(1), m.Out<T>(0));
  }
  return absl::OkStatus();
}

absl::Status PrepareCholesky(Prepare& p) {
  TENON_RETURN_IF_ERROR(OpenMatrixLibrary());
  MatrixStep step(p);
  TENON_RETURN_IF_ERROR(step.ReadInputs(1));
  TENON_RETURN_IF_ERROR(step.RequireSquare(0));
  TENON_RETURN_IF_ERROR(step.AddMatrix(step.in(0).rows, step.in(0).rows));
  VisitMatrixType(p.input_type(0),
                  [&](auto zero) { step.Compute(&CholeskyFactor<decltype(zero)>); });
  return absl::OkStatus();
}

absl::Status PrepareCholeskyGradient(Prepare& p) {
  TENON_RETURN_IF_ERROR(OpenMatrixLibrary());
  MatrixStep step(p);
  TENON_RETURN_IF_ERROR(step.ReadInputs(2));
  TENON_RETURN_IF_ERROR(step.RequireSquare(0));
  TENON_RETURN_IF_ERROR(step.RequireSquare(1));
  TENON_RETURN_IF_ERROR(step.RequireSameRows());
  TENON_RETURN_IF_ERROR(step.AddMatrix(step.in(0).rows, step.in(0).rows));
  // TensorFlow has the gradient for real matrices only.
  if (p.input_type(0) == DataType::kFloat) {
    step.Compute(&FactorGradient<float>);
  } else {
    step.Compute(&FactorGradient<double>);
  }
  return absl::OkStatus();
}

}  // namespace

absl::Span<const CpuKernelSpec> CholeskyKernels() {
  static const CpuKernelSpec specs[] = {
      {"Cholesky", {{"T", kMatrixTypes}}, PrepareCholesky},
      {"BatchCholesky", {{"T", kRealMatrixTypes}}, PrepareCholesky},
      {"CholeskyGrad", {{"T", kRealMatrixTypes}}, PrepareCholeskyGradient},
      {"BatchCholeskyGrad", {{"T", kRealMatrixTypes}}, PrepareCholeskyGradient},
  };
  return specs;
}

}  // namespace tenon::cpu
