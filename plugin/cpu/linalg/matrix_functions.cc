// Exponential, logarithm and square root of matrices.
#include "plugin/cpu/base/kernel_util.h"
#include "plugin/cpu/linalg/matrix_library_loader.h"
#include "plugin/cpu/linalg/matrix_step.h"
#include "plugin/kernels/kernel.h"
#include "plugin/kernels/kernel_spec.h"

namespace tenon::cpu {
namespace {

// Calls function(functions of the matrix's type, matrix, result).
template <typename F>
absl::Status PrepareFunction(Prepare& p, F function) {
  TENON_RETURN_IF_ERROR(OpenMatrixLibrary());
  MatrixStep step(p);
  TENON_RETURN_IF_ERROR(step.ReadInputs(1));
  TENON_RETURN_IF_ERROR(step.RequireSquare(0));
  TENON_RETURN_IF_ERROR(step.AddMatrix(step.in(0).rows, step.in(0).rows));
  VisitMatrixType(p.input_type(0), [&](auto zero) {
    using T = decltype(zero);
    step.Compute([function](const MatrixArgs& m) {
      return function(FunctionsOf<T>(), m.In<T>(0), m.Out<T>(0));
    });
  });
  return absl::OkStatus();
}

absl::Status PrepareExponential(Prepare& p) {
  return PrepareFunction(p, [](const auto& functions, auto matrix, auto result) {
    functions.exponential(matrix, result);
    return absl::OkStatus();
  });
}

absl::Status PrepareLogarithm(Prepare& p) {
  return PrepareFunction(p, [](const auto& functions, auto matrix, auto result) {
    if (functions.logarithm(matrix, result)) return absl::OkStatus();
    return absl::InvalidArgumentError("Input matrix is not invertible: it has no logarithm.");
  });
}

absl::Status PrepareSquareRoot(Prepare& p) {
  return PrepareFunction(p, [](const auto& functions, auto matrix, auto result) {
    functions.square_root(matrix, result);
    return absl::OkStatus();
  });
}

}  // namespace

absl::Span<const CpuKernelSpec> MatrixFunctionKernels() {
  static const CpuKernelSpec specs[] = {
      {"MatrixExponential", {{"T", kMatrixTypes}}, PrepareExponential},
      {"MatrixLogarithm", {{"T", kComplexTypes}}, PrepareLogarithm},
      {"MatrixSquareRoot", {{"T", kMatrixTypes}}, PrepareSquareRoot},
  };
  return specs;
}

}  // namespace tenon::cpu
