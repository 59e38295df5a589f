// LU decompositions with row pivots, and what is computed from them. Row pivots cannot tell every
// singular matrix, but a pivot of exactly 0 is one.
#pragma once

#include "plugin/cpu/linalg/decompositions/matrix_ref.h"

namespace tenon::cpu {

// Sets `lu` to the upper triangle U and, below its diagonal, the lower triangle L, whose own
// diagonal is 1. Row i of their product is row order[i] of `a`. Returns false if `a` has a pivot of
// 0. Index is int32_t or int64_t.
template <typename T, typename Index>
bool DecomposeLu(MatrixRef<const T> a, MatrixRef<T> lu, Index* order);

// Sets `inverse` to the inverse of `a`, or of its adjoint. Returns false, and leaves `inverse`
// alone, if a pivot is 0.
template <typename T>
bool InvertByLu(MatrixRef<const T> a, bool adjoint, MatrixRef<T> inverse);
// The same for halves, whose bits the elements are. Computes in float.
bool InvertByLu(MatrixRef<const uint16_t> a, bool adjoint, MatrixRef<uint16_t> inverse);

// Solves a x = b, or the system of the adjoint of `a`. Returns false, and leaves `x` alone, if a
// pivot is 0.
template <typename T>
bool SolveByLu(MatrixRef<const T> a, bool adjoint, MatrixRef<const T> b, MatrixRef<T> x);

// A determinant as sign (for complex numbers: direction) and logarithm of the absolute value, so
// that it cannot overflow on the way. Of a singular matrix 0 and -inf, of an empty one 1 and 0.
template <typename T>
struct LogDeterminant {
  T sign;
  double log;
};
template <typename T>
LogDeterminant<T> ComputeLogDeterminant(MatrixRef<const T> a);

}  // namespace tenon::cpu
