// Cholesky decompositions.
#pragma once

#include "plugin/cpu/linalg/decompositions/matrix_ref.h"

namespace tenon::cpu {

// Sets `l` to the lower triangle with l l^H = a. Reads only the lower triangle of `a`. If `a` is
// not positive definite, the lower triangle of `l` is NaN, as in TensorFlow.
template <typename T>
void DecomposeCholesky(MatrixRef<const T> a, MatrixRef<T> l);

// Sets `gradient` to the gradient of the decomposed matrix. `l` is its factor, `l_gradient` the
// gradient of the factor. T is float or double.
template <typename T>
void CholeskyGradient(MatrixRef<const T> l, MatrixRef<const T> l_gradient, MatrixRef<T> gradient);

}  // namespace tenon::cpu
