// Eigenvalues and eigenvectors by Eigen's solvers, of general and of self-adjoint matrices.
#include "plugin/cpu/linalg/decompositions/eigenvalues.h"

#include <xmmintrin.h>

#include <Eigen/Eigenvalues>

#include "plugin/cpu/linalg/decompositions/eigen_maps.inc"

namespace tenon::cpu {
namespace {

// Clears FTZ and DAZ in this thread for the life of the object: some iterations converge on
// denormals, which FTZ would turn into 0. The destructor restores the previous control register.
class WithDenormals {
 public:
  WithDenormals() : saved_(_mm_getcsr()) {
    constexpr uint32_t kFlushBits = 0x8040;  // FTZ and DAZ of the control register MXCSR
    _mm_setcsr(saved_ & ~kFlushBits);
  }
  ~WithDenormals() { _mm_setcsr(saved_); }
  WithDenormals(const WithDenormals&) = delete;
  WithDenormals& operator=(const WithDenormals&) = delete;

 private:
  uint32_t saved_;
};

// Complex matrices are computed in double: their values are sorted, so they do not depend on the
// precision. Real ones are computed as they are: so their values have the order, and vectors of
// self-adjoint ones the signs, of TensorFlow's.
template <typename T>
using Computed = std::conditional_t<Eigen::NumTraits<T>::IsComplex, Wide<T>, T>;
template <typename T>
using Solver = std::conditional_t<Eigen::NumTraits<T>::IsComplex,
                                  Eigen::ComplexEigenSolver<Matrix<Computed<T>>>,
                                  Eigen::EigenSolver<Matrix<Computed<T>>>>;
template <typename T>
using SelfAdjointSolver = Eigen::SelfAdjointEigenSolver<Matrix<Computed<T>>>;

}  // namespace

template <typename T, typename C>
bool DecomposeEigen(MatrixRef<const T> a, bool with_vectors, MatrixRef<C> values,
                    MatrixRef<C> vectors) {
  const WithDenormals denormals;
  const Solver<T> solver(Map(a).template cast<Computed<T>>(), with_vectors);
  if (solver.info() != Eigen::Success) return false;
  Map(values) = solver.eigenvalues().template cast<C>();
  if (with_vectors) Map(vectors) = solver.eigenvectors().template cast<C>();
  return true;
}

template <typename T>
bool DecomposeSelfAdjoint(MatrixRef<const T> a, bool with_vectors, MatrixRef<T> values,
                          MatrixRef<T> vectors) {
  SelfAdjointSolver<T> solver(a.rows);
  {
    const WithDenormals denormals;
    solver.compute(Map(a).template cast<Computed<T>>(),
                   with_vectors ? Eigen::ComputeEigenvectors : Eigen::EigenvaluesOnly);
  }
  if (solver.info() != Eigen::Success) return false;
  Map(values) = solver.eigenvalues().template cast<T>();
  if (with_vectors) Map(vectors) = solver.eigenvectors().template cast<T>();
  return true;
}

#define TENON_INSTANTIATE(T, C)                                                       \
  template bool DecomposeEigen(MatrixRef<const T>, bool, MatrixRef<C>, MatrixRef<C>); \
  template bool DecomposeSelfAdjoint(MatrixRef<const T>, bool, MatrixRef<T>, MatrixRef<T>);
TENON_INSTANTIATE(float, std::complex<float>)
TENON_INSTANTIATE(double, std::complex<double>)
TENON_INSTANTIATE(std::complex<float>, std::complex<float>)
TENON_INSTANTIATE(std::complex<double>, std::complex<double>)
#undef TENON_INSTANTIATE

}  // namespace tenon::cpu
