// Systems of equations with a triangular matrix.
#pragma once

#include "plugin/cpu/linalg/decompositions/matrix_ref.h"

namespace tenon::cpu {

// Solves a x = b or, if `adjoint`, a^H x = b. Reads only the lower triangle of the square matrix
// `a` if `lower`, else only the upper one, also if `adjoint`. Does not check for zeros on the
// diagonal: they give inf and NaN, as in TensorFlow.
template <typename T>
void SolveTriangular(MatrixRef<const T> a, bool lower, bool adjoint, MatrixRef<const T> b,
                     MatrixRef<T> x);

}  // namespace tenon::cpu
