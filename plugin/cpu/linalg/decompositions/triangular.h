// Systems of equations with a triangular matrix.
#pragma once

#include "plugin/cpu/linalg/decompositions/matrix_ref.h"

namespace tenon::cpu {

// Solves a x = b, or the system of the adjoint of `a`. Reads only the lower triangle of `a` if
// `lower`, else only the upper one. A singular matrix gives inf and NaN, as in TensorFlow.
template <typename T>
void SolveTriangular(MatrixRef<const T> a, bool lower, bool adjoint, MatrixRef<const T> b,
                     MatrixRef<T> x);

}  // namespace tenon::cpu
