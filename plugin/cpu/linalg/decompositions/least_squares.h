// Least-squares solutions of a x = b, a system with more or fewer equations than unknowns, computed
// in double. `a` is not empty.
#pragma once

#include "plugin/cpu/linalg/decompositions/matrix_ref.h"

namespace tenon::cpu {

// Solves the normal equations, of the first kind (A'A + cI) X = A'B if there are more equations
// than unknowns, else of the second (AA' + cI) Z = B, X = A'Z. Good if A has full rank and a
// moderate condition. Returns false, and leaves `x` alone, if the equations are not positive
// definite. `regularizer` is c.
template <typename T>
bool SolveNormalEquations(MatrixRef<const T> a, MatrixRef<const T> b, double regularizer,
                          MatrixRef<T> x);

// Sets `x` to the solution of least norm. `a` may have any rank.
template <typename T>
void SolveOrthogonally(MatrixRef<const T> a, MatrixRef<const T> b, MatrixRef<T> x);

}  // namespace tenon::cpu
