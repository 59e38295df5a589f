#include "plugin/cpu/linalg/svd.inc"

namespace tenon::cpu {

template absl::Status DecomposeSingular<std::complex<float>>(const MatrixArgs&, SingularVectors);
template absl::Status DecomposeSingular<std::complex<double>>(const MatrixArgs&, SingularVectors);

}  // namespace tenon::cpu
