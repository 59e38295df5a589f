// Eigenvalues and eigenvectors.
#pragma once

#include <complex>

#include "plugin/cpu/linalg/decompositions/matrix_ref.h"

namespace tenon::cpu {

// Sets `values` to the eigenvalues of the square matrix `a` and, if `with_vectors`, `vectors` to
// the eigenvectors as columns. Values of a real matrix keep the order in which they converge, those
// of a complex one are sorted by absolute value, as in TensorFlow. Returns false if the iteration
// does not converge. C is the complex type of the precision of T.
template <typename T, typename C>
bool DecomposeEigen(MatrixRef<const T> a, bool with_vectors, MatrixRef<C> values,
                    MatrixRef<C> vectors);

// The same for a self-adjoint matrix. Reads only the lower triangle of `a`. Values ascend.
template <typename T>
bool DecomposeSelfAdjoint(MatrixRef<const T> a, bool with_vectors, MatrixRef<T> values,
                          MatrixRef<T> vectors);

}  // namespace tenon::cpu
