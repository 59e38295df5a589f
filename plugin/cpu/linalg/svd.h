// The arithmetic of Svd. It stands in files of its own because it takes long to compile.
#pragma once

#include "plugin/cpu/linalg/matrix_step.h"

namespace tenon::cpu {

enum class SingularVectors {
  kNone,  // singular values only
  kThin,  // on each side as many vectors as singular values: min(rows, columns)
  kFull   // square matrices of vectors: `rows` left and `columns` right vectors
};

// Decomposes the matrix of input 0, of type T, in double precision: a = u * diag(values) * v^H.
// Output 0 gets the singular values in descending order. Unless `vectors` is kNone, output 1 gets
// the left singular vectors u and output 2 the right singular vectors v, both as columns. All
// outputs have type T. If the matrix has an element that is not finite, or the iteration does not
// converge, all outputs are NaN, as in TensorFlow. A matrix without elements has identity matrices
// as vectors. Always returns OK; may throw std::bad_alloc. T is a type of VisitMatrixType.
template <typename T>
absl::Status DecomposeSingular(const MatrixArgs& m, SingularVectors vectors);

}  // namespace tenon::cpu
