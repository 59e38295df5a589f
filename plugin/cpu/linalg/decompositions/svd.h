// Singular value decompositions.
#pragma once

#include "plugin/cpu/linalg/decompositions/matrix_ref.h"

namespace tenon::cpu {

enum class SingularVectors {
  kNone,  // singular values only
  kThin,  // on each side as many vectors as singular values: min(rows, columns)
  kFull   // square matrices of vectors: `rows` left and `columns` right vectors
};

// Decomposes `a` in double precision: a = u * diag(values) * v^H. Sets `values`, a matrix of one
// column, to the min(rows, columns) singular values in descending order. Sets `u` to the left and
// `v` to the right singular vectors, both as columns, in the order of their values. If `vectors` is
// kNone, `u` and `v` must be empty. If `a` has an element that is not finite, or the iteration does
// not converge, all results are NaN, as in TensorFlow. If `a` is empty, `u` and `v` become
// identities.
template <typename T>
void DecomposeSingular(MatrixRef<const T> a, SingularVectors vectors, MatrixRef<T> values,
                       MatrixRef<T> u, MatrixRef<T> v);

}  // namespace tenon::cpu
