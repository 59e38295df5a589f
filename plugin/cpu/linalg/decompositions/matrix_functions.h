// Functions of square matrices that are not empty, computed in complex<double>. The answer for a
// real matrix is the real part of what is computed; the imaginary part is lost without notice.
#pragma once

#include "plugin/cpu/linalg/decompositions/matrix_ref.h"

namespace tenon::cpu {

// Sets `result` to the exponential of `a`; to NaN if `a` has an element that is not finite, or its
// norm overflows a double.
template <typename T>
void MatrixExponential(MatrixRef<const T> a, MatrixRef<T> result);

// Sets `result` to the principal logarithm of `a`; to NaN if `a` has an element that is not finite,
// or the computation does not converge. Returns false, and leaves `result` alone, if a computed
// eigenvalue is exactly 0: rounding may hide that a matrix is singular.
template <typename T>
bool MatrixLogarithm(MatrixRef<const T> a, MatrixRef<T> result);

// Sets `result` to the principal square root of `a`. Sets it to NaN if `a` has an element that is
// not finite, the computation does not converge, or `a` is real and has an eigenvalue that is
// negative by more than rounding explains: such a matrix counts as without a real root. A singular
// matrix that has no root gives inf or NaN.
template <typename T>
void MatrixSquareRoot(MatrixRef<const T> a, MatrixRef<T> result);

}  // namespace tenon::cpu
