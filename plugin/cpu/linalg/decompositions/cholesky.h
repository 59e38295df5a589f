// Cholesky decompositions.
#pragma once

#include "plugin/cpu/linalg/decompositions/matrix_ref.h"

namespace tenon::cpu {

// Sets `l` to the lower triangle with l l^H = a, and to 0 above its diagonal. Reads only the lower
// triangle of the square matrix `a`. If `a` is not positive definite, the whole lower triangle of
// `l` is NaN, as in TensorFlow. A NaN in `a` does not count as that: it makes NaN only the elements
// of `l` that depend on it.
template <typename T>
void DecomposeCholesky(MatrixRef<const T> a, MatrixRef<T> l);

// Sets `gradient` to the gradient of the decomposed matrix, which is symmetric. `l` is the factor
// that DecomposeCholesky gave, `l_gradient` the gradient of that factor. Reads only the lower
// triangles of both. T is float or double.
template <typename T>
void CholeskyGradient(MatrixRef<const T> l, MatrixRef<const T> l_gradient, MatrixRef<T> gradient);

}  // namespace tenon::cpu
