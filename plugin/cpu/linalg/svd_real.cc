#include "plugin/cpu/linalg/svd.inc"

namespace tenon::cpu {

template absl::Status DecomposeSingular<float>(const MatrixArgs&, SingularVectors);
template absl::Status DecomposeSingular<double>(const MatrixArgs&, SingularVectors);

}  // namespace tenon::cpu
