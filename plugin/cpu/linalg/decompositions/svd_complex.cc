// The instances of the SVD for complex matrices. Real ones have a source of their own: the two
// compile side by side.
#include "plugin/cpu/linalg/decompositions/svd.inc"

namespace tenon::cpu {

template void DecomposeSingular(MatrixRef<const std::complex<float>>, SingularVectors,
                                MatrixRef<std::complex<float>>, MatrixRef<std::complex<float>>,
                                MatrixRef<std::complex<float>>);
template void DecomposeSingular(MatrixRef<const std::complex<double>>, SingularVectors,
                                MatrixRef<std::complex<double>>, MatrixRef<std::complex<double>>,
                                MatrixRef<std::complex<double>>);

}  // namespace tenon::cpu
