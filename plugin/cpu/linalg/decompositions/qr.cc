// QR decomposition by Householder reflections, in double precision.
#include "plugin/cpu/linalg/decompositions/qr.h"

#include <Eigen/QR>

#include "plugin/cpu/linalg/decompositions/eigen_maps.inc"

namespace tenon::cpu {

template <typename T>
void DecomposeQr(MatrixRef<const T> a, MatrixRef<T> q, MatrixRef<T> r) {
  auto out_q = Map(q), out_r = Map(r);
  // Eigen's decomposition wants elements.
  if (a.rows == 0 || a.columns == 0) {
    out_q.setIdentity();
    out_r.setZero();
    return;
  }
  using Compute = Wide<Element<T>>;
  const Eigen::HouseholderQR<Matrix<Compute>> qr(Map(a).template cast<Compute>());
  Matrix<Compute> columns = Matrix<Compute>::Identity(q.rows, q.columns);
  // The wanted columns of Q alone: all of Q would be rows x rows.
  columns.applyOnTheLeft(qr.householderQ());
  out_q = columns.template cast<Element<T>>();
  out_r = qr.matrixQR().topRows(r.rows).template cast<Element<T>>();
  // Below the diagonal Eigen keeps the Householder vectors.
  out_r.template triangularView<Eigen::StrictlyLower>().setZero();
}

#define TENON_INSTANTIATE(T) \
  template void DecomposeQr(MatrixRef<const T>, MatrixRef<T>, MatrixRef<T>);
TENON_INSTANTIATE(uint16_t)
TENON_FOR_MATRIX_TYPES(TENON_INSTANTIATE)
#undef TENON_INSTANTIATE

}  // namespace tenon::cpu
