// Eigenvalues and eigenvectors.
#pragma once

#include <complex>

#include "plugin/cpu/linalg/decompositions/matrix_ref.h"

namespace tenon::cpu {

// Sets `values`, a matrix of one column, to the eigenvalues of the square matrix `a`. If
// `with_vectors`, sets column i of `vectors` to the eigenvector, of length 1, of value i; else does
// not touch `vectors`, which may be empty. The values of a real matrix come in the order of the
// solver, which is not sorted; those of a complex matrix ascend by absolute value. Both are as in
// TensorFlow. Returns false, and sets nothing, if the iteration does not converge. C is the complex
// type of the precision of T.
template <typename T, typename C>
bool DecomposeEigen(MatrixRef<const T> a, bool with_vectors, MatrixRef<C> values,
                    MatrixRef<C> vectors);

// The same for a self-adjoint matrix, except that the values are real numbers, of type T, and
// ascend. Reads only the lower triangle of `a`.
template <typename T>
bool DecomposeSelfAdjoint(MatrixRef<const T> a, bool with_vectors, MatrixRef<T> values,
                          MatrixRef<T> vectors);

}  // namespace tenon::cpu
