// QR decompositions.
#pragma once

#include "plugin/cpu/linalg/decompositions/matrix_ref.h"

namespace tenon::cpu {

// Decomposes `a` by Householder reflections, in double. The sizes of `q` and `r` say whether all
// columns of Q are wanted or as many as the smaller side of `a` has elements. T may also be
// uint16_t, the bits of a half.
template <typename T>
void DecomposeQr(MatrixRef<const T> a, MatrixRef<T> q, MatrixRef<T> r);

}  // namespace tenon::cpu
