// LU decompositions with row pivots, and results computed from them. `a` is square and, but for
// ComputeLogDeterminant, not empty. `a` is taken for singular only if a pivot is exactly 0:
// rounding may hide that a matrix is singular. An `a` that holds NaN may be taken for singular or
// not.
#pragma once

#include "plugin/cpu/linalg/decompositions/matrix_ref.h"

namespace tenon::cpu {

// Sets `lu` to the upper triangle U and, below its diagonal, the lower triangle L, whose own
// diagonal is 1. Row i of their product is row order[i] of `a`; `order` has an element per row.
// Returns false if a pivot is 0; `lu` and `order` are set all the same. Index is int32_t or
// int64_t.
template <typename T, typename Index>
bool DecomposeLu(MatrixRef<const T> a, MatrixRef<T> lu, Index* order);

// Sets `inverse` to the inverse of `a`, or of its adjoint. Returns false, and leaves `inverse`
// alone, if a pivot is 0.
template <typename T>
bool InvertByLu(MatrixRef<const T> a, bool adjoint, MatrixRef<T> inverse);
// The same for a matrix of halves: each element holds the bits of one. Computes in float.
bool InvertByLu(MatrixRef<const uint16_t> a, bool adjoint, MatrixRef<uint16_t> inverse);

// Solves a x = b, or the system of the adjoint of `a`. Returns false, and leaves `x` alone, if a
// pivot is 0.
template <typename T>
bool SolveByLu(MatrixRef<const T> a, bool adjoint, MatrixRef<const T> b, MatrixRef<T> x);

// A determinant as its sign and the natural logarithm of its absolute value, so that it cannot
// overflow on the way. The sign of a complex determinant is the number of absolute value 1 in its
// direction. If a pivot is 0 and all are finite: 0 and -inf. Of an empty matrix: 1 and 0. An
// infinite pivot before the last makes the logarithm of a complex matrix NaN, as in TensorFlow.
template <typename T>
struct LogDeterminant {
  T sign;
  double log;
};
template <typename T>
LogDeterminant<T> ComputeLogDeterminant(MatrixRef<const T> a);

}  // namespace tenon::cpu
