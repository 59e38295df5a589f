// QR decompositions.
#pragma once

#include "plugin/cpu/linalg/decompositions/matrix_ref.h"

namespace tenon::cpu {

// Decomposes `a` by Householder reflections, in double precision: a = q r. The columns of `q` are
// orthonormal. `r` is upper triangular, with zeros below its diagonal, which may hold negative
// numbers. The caller chooses the number of columns of `q`, which is the number of rows of `r`:
// a.rows, or min(a.rows, a.columns). If `a` is empty, `q` becomes the identity and `r` 0. T may
// also be uint16_t, the bits of a half.
template <typename T>
void DecomposeQr(MatrixRef<const T> a, MatrixRef<T> q, MatrixRef<T> r);

}  // namespace tenon::cpu
