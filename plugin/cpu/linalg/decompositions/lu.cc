// LU decomposition with partial pivots, and what follows from it: inverses, solutions,
// determinants.
#include "plugin/cpu/linalg/decompositions/lu.h"

#include <Eigen/LU>
#include <cmath>

#include "plugin/cpu/linalg/decompositions/eigen_maps.inc"

namespace tenon::cpu {
namespace {

template <typename T>
using Lu = Eigen::PartialPivLU<Stored<T>>;

template <typename T>
bool HasPivots(const Lu<T>& lu) {
  // A pivot of 0 says that the matrix is singular.
  return lu.matrixLU().diagonal().cwiseAbs().minCoeff() > 0;
}

template <typename T>
Lu<T> LuOf(const In<T>& a, bool adjoint) {
  return adjoint ? Lu<T>(Stored<T>(a.adjoint())) : Lu<T>(a);
}

template <typename Real>
Real SignOf(Real x) {
  return x > 0 ? Real{1} : x < 0 ? Real{-1} : x;
}
template <typename Real>
std::complex<Real> SignOf(std::complex<Real> x) {
  const Real size = std::abs(x);
  return size == 0 ? x : x / size;
}

}  // namespace

template <typename T, typename Index>
bool DecomposeLu(MatrixRef<const T> a, MatrixRef<T> lu, Index* order) {
  const Lu<T> decomposed(Map(a));
  Map(lu) = decomposed.matrixLU();
  const auto& position = decomposed.permutationP().indices();
  for (Eigen::Index row = 0; row < position.size(); ++row)
    // Eigen gives where each row goes. TensorFlow's output says which row stands at each place: the
    // inverse permutation.
    order[position[row]] = static_cast<Index>(row);
  return HasPivots(decomposed);
}

template <typename T>
bool InvertByLu(MatrixRef<const T> a, bool adjoint, MatrixRef<T> inverse) {
  const Lu<T> lu = LuOf<T>(Map(a), adjoint);
  if (!HasPivots(lu)) return false;
  Map(inverse) = lu.inverse();
  return true;
}

// In half the pivots would be too inexact to be of use.
bool InvertByLu(MatrixRef<const uint16_t> a, bool adjoint, MatrixRef<uint16_t> inverse) {
  const Stored<float> wide = Map(a).cast<float>();
  const Lu<float> lu = LuOf<float>(In<float>(wide.data(), wide.rows(), wide.cols()), adjoint);
  if (!HasPivots(lu)) return false;
  Map(inverse) = lu.inverse().cast<Eigen::half>();
  return true;
}

template <typename T>
bool SolveByLu(MatrixRef<const T> a, bool adjoint, MatrixRef<const T> b, MatrixRef<T> x) {
  const Lu<T> lu = LuOf<T>(Map(a), adjoint);
  if (!HasPivots(lu)) return false;
  Map(x) = lu.solve(Map(b));
  return true;
}

template <typename T>
LogDeterminant<T> ComputeLogDeterminant(MatrixRef<const T> a) {
  // An empty product.
  if (a.rows == 0) return {T(1), 0};
  const Lu<T> lu(Map(a));
  using Real = typename Eigen::NumTraits<T>::Real;
  // Each exchange of rows turns the sign.
  LogDeterminant<T> d{T(static_cast<Real>(lu.permutationP().determinant())), 0};
  for (Eigen::Index i = 0; i < a.rows; ++i) {
    const T pivot = lu.matrixLU()(i, i);
    // A sum of logarithms: the product of the pivots could overflow.
    d.log += std::log(static_cast<double>(std::abs(pivot)));
    // What is divided by an infinite complex pivot is NaN in TensorFlow.
    if (Eigen::NumTraits<T>::IsComplex && i + 1 < a.rows && std::isinf(d.log) && d.log > 0)
      d.log = NAN;
    d.sign *= SignOf(pivot);
  }
  return d;
}

#define TENON_INSTANTIATE(T)                                                           \
  template bool DecomposeLu(MatrixRef<const T>, MatrixRef<T>, int32_t*);               \
  template bool DecomposeLu(MatrixRef<const T>, MatrixRef<T>, int64_t*);               \
  template bool InvertByLu(MatrixRef<const T>, bool, MatrixRef<T>);                    \
  template bool SolveByLu(MatrixRef<const T>, bool, MatrixRef<const T>, MatrixRef<T>); \
  template LogDeterminant<T> ComputeLogDeterminant(MatrixRef<const T>);
TENON_FOR_MATRIX_TYPES(TENON_INSTANTIATE)
#undef TENON_INSTANTIATE

}  // namespace tenon::cpu
