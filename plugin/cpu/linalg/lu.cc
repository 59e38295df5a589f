// What is made from an LU decomposition with row pivots: the decomposition itself, inverses,
// solutions, determinants.
#include <cmath>
#include <cstdint>
#include <type_traits>

#include "plugin/cpu/base/kernel_util.h"
#include "plugin/cpu/linalg/matrix_library_loader.h"
#include "plugin/cpu/linalg/matrix_step.h"
#include "plugin/kernels/kernel.h"
#include "plugin/kernels/kernel_spec.h"

namespace tenon::cpu {
namespace {

absl::Status InvertibleIf(bool invertible) {
  if (invertible) return absl::OkStatus();
  return absl::InvalidArgumentError("Input matrix is not invertible.");
}

template <typename T>
absl::Status Invert(const MatrixArgs& m, bool adjoint) {
  if constexpr (std::is_same_v<T, uint16_t>) {
    return InvertibleIf(OpenedMatrixLibrary().inverse_f16(m.In<T>(0), adjoint, m.Out<T>(0)));
  } else {
    return InvertibleIf(FunctionsOf<T>().inverse(m.In<T>(0), adjoint, m.Out<T>(0)));
  }
}

template <typename T>
absl::Status SolveSystem(const MatrixArgs& m, bool adjoint) {
  return InvertibleIf(FunctionsOf<T>().lu_solve(m.In<T>(0), adjoint, m.In<T>(1), m.Out<T>(0)));
}

template <typename T, typename Index>
absl::Status LuFactors(const MatrixArgs& m) {
  if constexpr (std::is_same_v<Index, int32_t>) {
    return InvertibleIf(FunctionsOf<T>().lu32(m.In<T>(0), m.Out<T>(0), m.Out<Index>(1).data));
  } else {
    return InvertibleIf(FunctionsOf<T>().lu64(m.In<T>(0), m.Out<T>(0), m.Out<Index>(1).data));
  }
}

template <typename T>
using Real = decltype(std::abs(T()));

template <typename T>
absl::Status Determinant(const MatrixArgs& m) {
  const LogDeterminant<T> d = FunctionsOf<T>().log_determinant(m.In<T>(0));
  *m.Out<T>(0).data = d.sign * static_cast<Real<T>>(std::exp(d.log));
  return absl::OkStatus();
}

template <typename T>
absl::Status SignAndLogDeterminant(const MatrixArgs& m) {
  const LogDeterminant<T> d = FunctionsOf<T>().log_determinant(m.In<T>(0));
  *m.Out<T>(0).data = d.sign;
  *m.Out<T>(1).data = T(static_cast<Real<T>>(d.log));
  return absl::OkStatus();
}

absl::Status ReadSquares(MatrixStep& step, int inputs) {
  TENON_RETURN_IF_ERROR(OpenMatrixLibrary());
  TENON_RETURN_IF_ERROR(step.ReadInputs(inputs));
  return step.RequireSquare(0);
}

absl::Status PrepareInverse(Prepare& p) {
  MatrixStep step(p);
  TENON_ASSIGN_OR_RETURN(const bool adjoint, p.AttrBool("adjoint"));
  TENON_RETURN_IF_ERROR(ReadSquares(step, 1));
  TENON_RETURN_IF_ERROR(step.AddMatrix(step.in(0).rows, step.in(0).rows));
  if (p.input_type(0) == DataType::kHalf)
    step.Compute([adjoint](const MatrixArgs& m) { return Invert<uint16_t>(m, adjoint); });
  VisitMatrixType(p.input_type(0), [&](auto zero) {
    step.Compute([adjoint](const MatrixArgs& m) { return Invert<decltype(zero)>(m, adjoint); });
  });
  return absl::OkStatus();
}

absl::Status PrepareLuSolve(Prepare& p) {
  MatrixStep step(p);
  TENON_ASSIGN_OR_RETURN(const bool adjoint, p.AttrBool("adjoint"));
  TENON_RETURN_IF_ERROR(ReadSquares(step, 2));
  TENON_RETURN_IF_ERROR(step.RequireSameRows());
  TENON_RETURN_IF_ERROR(step.AddMatrix(step.in(1).rows, step.in(1).columns));
  VisitMatrixType(p.input_type(0), [&](auto zero) {
    step.Compute(
        [adjoint](const MatrixArgs& m) { return SolveSystem<decltype(zero)>(m, adjoint); });
  });
  return absl::OkStatus();
}

absl::Status PrepareLu(Prepare& p) {
  MatrixStep step(p);
  TENON_RETURN_IF_ERROR(ReadSquares(step, 1));
  TENON_RETURN_IF_ERROR(step.AddMatrix(step.in(0).rows, step.in(0).rows));
  TENON_RETURN_IF_ERROR(step.AddVector(step.in(0).rows));
  VisitMatrixType(p.input_type(0), [&](auto zero) {
    using T = decltype(zero);
    if (p.output_type(1) == DataType::kInt64) {
      step.Compute(&LuFactors<T, int64_t>);
    } else {
      step.Compute(&LuFactors<T, int32_t>);
    }
  });
  return absl::OkStatus();
}

absl::Status PrepareDeterminant(Prepare& p) {
  MatrixStep step(p);
  TENON_RETURN_IF_ERROR(ReadSquares(step, 1));
  TENON_RETURN_IF_ERROR(step.AddScalar());
  VisitMatrixType(p.input_type(0), [&](auto zero) { step.Compute(&Determinant<decltype(zero)>); });
  return absl::OkStatus();
}

absl::Status PrepareLogDeterminant(Prepare& p) {
  MatrixStep step(p);
  TENON_RETURN_IF_ERROR(ReadSquares(step, 1));
  TENON_RETURN_IF_ERROR(step.AddScalar());
  TENON_RETURN_IF_ERROR(step.AddScalar());
  VisitMatrixType(p.input_type(0),
                  [&](auto zero) { step.Compute(&SignAndLogDeterminant<decltype(zero)>); });
  return absl::OkStatus();
}

}  // namespace

absl::Span<const CpuKernelSpec> LuKernels() {
  constexpr uint64_t kHalf = TypeBit(DataType::kHalf);
  static const CpuKernelSpec specs[] = {
      {"Lu", {{"T", kMatrixTypes}, {"output_idx_type", kIndexTypes}}, PrepareLu},
      {"MatrixInverse", {{"T", kMatrixTypes | kHalf}}, PrepareInverse},
      {"BatchMatrixInverse", {{"T", kMatrixTypes}}, PrepareInverse},
      {"MatrixSolve", {{"T", kMatrixTypes}}, PrepareLuSolve},
      {"BatchMatrixSolve", {{"T", kMatrixTypes}}, PrepareLuSolve},
      {"MatrixDeterminant", {{"T", kMatrixTypes}}, PrepareDeterminant},
      {"BatchMatrixDeterminant", {{"T", kMatrixTypes}}, PrepareDeterminant},
      {"LogMatrixDeterminant", {{"T", kMatrixTypes}}, PrepareLogDeterminant},
  };
  return specs;
}

}  // namespace tenon::cpu
