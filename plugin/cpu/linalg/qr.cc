// QR decomposition by Householder reflections.
#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "plugin/cpu/base/kernel_util.h"
#include "plugin/cpu/linalg/matrix_library_loader.h"
#include "plugin/cpu/linalg/matrix_step.h"
#include "plugin/kernels/kernel.h"
#include "plugin/kernels/kernel_spec.h"

namespace tenon::cpu {
namespace {

template <typename T>
absl::Status QrFactors(const MatrixArgs& m) {
  if constexpr (std::is_same_v<T, uint16_t>) {
    OpenedMatrixLibrary().qr_f16(m.In<T>(0), m.Out<T>(0), m.Out<T>(1));
  } else {
    FunctionsOf<T>().qr(m.In<T>(0), m.Out<T>(0), m.Out<T>(1));
  }
  return absl::OkStatus();
}

absl::Status PrepareQr(Prepare& p) {
  TENON_RETURN_IF_ERROR(OpenMatrixLibrary());
  MatrixStep step(p);
  TENON_ASSIGN_OR_RETURN(const bool full, p.AttrBool("full_matrices"));
  TENON_RETURN_IF_ERROR(step.ReadInputs(1));
  const auto [rows, columns] = step.in(0);
  const int64_t inner = full ? rows : std::min(rows, columns);
  TENON_RETURN_IF_ERROR(step.AddMatrix(rows, inner));
  TENON_RETURN_IF_ERROR(step.AddMatrix(inner, columns));
  if (p.input_type(0) == DataType::kHalf) step.Compute(&QrFactors<uint16_t>);
  VisitMatrixType(p.input_type(0), [&](auto zero) { step.Compute(&QrFactors<decltype(zero)>); });
  return absl::OkStatus();
}

}  // namespace

absl::Span<const CpuKernelSpec> QrKernels() {
  static const CpuKernelSpec specs[] = {
      {"Qr", {{"T", kMatrixTypes | TypeBit(DataType::kHalf)}}, PrepareQr},
  };
  return specs;
}

}  // namespace tenon::cpu
