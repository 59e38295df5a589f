// The arithmetic of Svd, in files of its own because it takes long to compile.
#pragma once

#include "plugin/cpu/linalg/matrix_step.h"

namespace tenon::cpu {

enum class SingularVectors { kNone, kThin, kFull };

// Of the matrix of input 0: singular values, left and right singular vectors. Of a matrix that is
// not finite everything is NaN, as in TensorFlow. T is a type of VisitMatrixType.
template <typename T>
absl::Status DecomposeSingular(const MatrixArgs& m, SingularVectors vectors);

}  // namespace tenon::cpu
