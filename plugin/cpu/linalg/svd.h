// The arithmetic of Svd. It stands in files of its own because it takes long to compile.
#pragma once

#include "plugin/cpu/linalg/matrix_step.h"

namespace tenon::cpu {

enum class SingularVectors {
  kNone,  // singular values only
  kThin,  // as many vectors as singular values: min(rows, columns)
  kFull   // square matrices of vectors
};

// Decomposes the matrix of input 0, of type T, in double precision. Output 0 gets the singular
// values in descending order, output 1 the left and output 2 the right singular vectors as columns,
// unless `vectors` is kNone. If the matrix has an element that is not finite, all outputs are NaN,
// as in TensorFlow. T is a type of VisitMatrixType.
template <typename T>
absl::Status DecomposeSingular(const MatrixArgs& m, SingularVectors vectors);

}  // namespace tenon::cpu
