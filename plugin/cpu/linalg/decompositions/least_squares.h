// Least-squares solutions of a x = b, a system with any numbers of equations and unknowns, computed
// in double precision. Each column of `b` is a system of its own.
#pragma once

#include "plugin/cpu/linalg/decompositions/matrix_ref.h"

namespace tenon::cpu {

// Solves the normal equations. With at least as many equations as unknowns these are of the first
// kind, (A'A + cI) X = A'B; with fewer they are of the second, (AA' + cI) Z = B, X = A'Z. A' is the
// adjoint of A; `regularizer` is c, which is not negative. Good if A has full rank and a moderate
// condition. Returns false, and leaves `x` alone, if the matrix of the normal equations is not
// positive definite. A NaN in `a` does not count as that, and makes `x` NaN.
template <typename T>
bool SolveNormalEquations(MatrixRef<const T> a, MatrixRef<const T> b, double regularizer,
                          MatrixRef<T> x);

// Sets `x` to the least-squares solution of least norm. `a` may have any rank. The precision of T
// decides what the rank is: a pivot below min(rows, columns) * epsilon times the largest one counts
// as 0. So does a pivot that is NaN or infinite: such elements of `a` may make all of `x` 0.
template <typename T>
void SolveOrthogonally(MatrixRef<const T> a, MatrixRef<const T> b, MatrixRef<T> x);

}  // namespace tenon::cpu
