// The instances of the SVD for real matrices. Complex ones have a source of their own: the two
// compile side by side.
#include "plugin/cpu/linalg/decompositions/svd.inc"

namespace tenon::cpu {

template void DecomposeSingular(MatrixRef<const float>, SingularVectors, MatrixRef<float>,
                                MatrixRef<float>, MatrixRef<float>);
template void DecomposeSingular(MatrixRef<const double>, SingularVectors, MatrixRef<double>,
                                MatrixRef<double>, MatrixRef<double>);

}  // namespace tenon::cpu
