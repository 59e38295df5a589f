// Functions of square matrices, computed in complex<double>: of a real matrix the real part is the
// answer.
#pragma once

#include "plugin/cpu/linalg/decompositions/matrix_ref.h"

namespace tenon::cpu {

// Sets `result` to the exponential of `a`; to NaN if `a` has an element that is not finite.
template <typename T>
void MatrixExponential(MatrixRef<const T> a, MatrixRef<T> result);

// Sets `result` to the principal logarithm of `a`; to NaN if `a` has an element that is not finite.
// Returns false, and leaves `result` alone, if `a` is singular.
template <typename T>
bool MatrixLogarithm(MatrixRef<const T> a, MatrixRef<T> result);

// Sets `result` to the principal square root of `a`; to NaN if `a` has an element that is not
// finite, or is real and has a negative eigenvalue: such a matrix has no real root.
template <typename T>
void MatrixSquareRoot(MatrixRef<const T> a, MatrixRef<T> result);

}  // namespace tenon::cpu
