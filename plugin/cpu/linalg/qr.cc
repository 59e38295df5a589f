// QR decomposition by Householder reflections, computed in double.
#include <Eigen/QR>
#include <algorithm>

#include "plugin/cpu/base/kernel_util.h"
#include "plugin/cpu/linalg/eigen_maps.inc"
#include "plugin/cpu/linalg/matrix_step.h"
#include "plugin/kernels/kernel.h"

namespace tenon::cpu {
namespace {

template <typename T>
using Matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>;

// The shapes of Q and R say whether all columns of Q are wanted.
template <typename T>
absl::Status Decompose(const MatrixArgs& m) {
  const In<T> a = m.In<In<T>>(0);
  Out<T> q = m.Out<Out<T>>(0), r = m.Out<Out<T>>(1);
  if (a.size() == 0) {
    q.setIdentity();
    r.setZero();
    return absl::OkStatus();
  }
  using Wide = WideElement<T>;
  const Eigen::HouseholderQR<Matrix<Wide>> qr(a.template cast<Wide>());
  Matrix<Wide> columns = Matrix<Wide>::Identity(q.rows(), q.cols());
  columns.applyOnTheLeft(qr.householderQ());
  q = columns.template cast<T>();
  r = qr.matrixQR().topRows(r.rows()).template cast<T>();
  r.template triangularView<Eigen::StrictlyLower>().setZero();
  return absl::OkStatus();
}

absl::Status PrepareQr(Prepare& p) {
  MatrixStep step(p);
  TENON_ASSIGN_OR_RETURN(const bool full, p.AttrBool("full_matrices"));
  TENON_RETURN_IF_ERROR(step.ReadInputs(1));
  const auto [rows, columns] = step.in(0);
  const int64_t inner = full ? rows : std::min(rows, columns);
  TENON_RETURN_IF_ERROR(step.AddMatrix(rows, inner));
  TENON_RETURN_IF_ERROR(step.AddMatrix(inner, columns));
  if (p.input_type(0) == DataType::kHalf) step.Compute(&Decompose<Eigen::half>);
  VisitMatrixType(p.input_type(0), [&](auto zero) { step.Compute(&Decompose<decltype(zero)>); });
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
