// Triangular systems by Eigen. Only the named triangle of the matrix is read.
#include "plugin/cpu/linalg/decompositions/triangular.h"

#include "plugin/cpu/linalg/decompositions/eigen_maps.inc"

namespace tenon::cpu {
namespace {

template <typename T, typename A>
void SolveTriangularInPlace(const A& a, bool lower, Out<T> x) {
  if (lower) {
    a.template triangularView<Eigen::Lower>().solveInPlace(x);
  } else {
    a.template triangularView<Eigen::Upper>().solveInPlace(x);
  }
}

}  // namespace

template <typename T>
void SolveTriangular(MatrixRef<const T> a, bool lower, bool adjoint, MatrixRef<const T> b,
                     MatrixRef<T> x) {
  Out<T> out = Map(x);
  out = Map(b);
  if (adjoint) {
    // The adjoint of a lower triangle is an upper one.
    SolveTriangularInPlace<T>(Stored<T>(Map(a).adjoint()), !lower, out);
  } else {
    SolveTriangularInPlace<T>(Map(a), lower, out);
  }
}

#define TENON_INSTANTIATE(T) \
  template void SolveTriangular(MatrixRef<const T>, bool, bool, MatrixRef<const T>, MatrixRef<T>);
TENON_FOR_MATRIX_TYPES(TENON_INSTANTIATE)
#undef TENON_INSTANTIATE

}  // namespace tenon::cpu
