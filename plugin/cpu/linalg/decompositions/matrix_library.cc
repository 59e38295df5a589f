// The table of the library of decompositions.
#include "plugin/cpu/linalg/decompositions/matrix_library.h"

#include "plugin/cpu/linalg/decompositions/cholesky.h"
#include "plugin/cpu/linalg/decompositions/eigenvalues.h"
#include "plugin/cpu/linalg/decompositions/least_squares.h"
#include "plugin/cpu/linalg/decompositions/matrix_functions.h"
#include "plugin/cpu/linalg/decompositions/qr.h"
#include "plugin/cpu/linalg/decompositions/triangular.h"

namespace tenon::cpu {
namespace {

template <typename T>
constexpr MatrixFunctions<T> FunctionsOf() {
  return {.cholesky = &DecomposeCholesky<T>,
          .eigen = &DecomposeEigen<T, typename MatrixFunctions<T>::Complex>,
          .self_adjoint = &DecomposeSelfAdjoint<T>,
          .normal_equations = &SolveNormalEquations<T>,
          .orthogonal_solution = &SolveOrthogonally<T>,
          .lu32 = &DecomposeLu<T, int32_t>,
          .lu64 = &DecomposeLu<T, int64_t>,
          .inverse = &InvertByLu<T>,
          .lu_solve = &SolveByLu<T>,
          .log_determinant = &ComputeLogDeterminant<T>,
          .exponential = &MatrixExponential<T>,
          .logarithm = &MatrixLogarithm<T>,
          .square_root = &MatrixSquareRoot<T>,
          .qr = &DecomposeQr<T>,
          .svd = &DecomposeSingular<T>,
          .triangular = &SolveTriangular<T>};
}

constexpr MatrixLibrary kLibrary = {.f32 = FunctionsOf<float>(),
                                    .f64 = FunctionsOf<double>(),
                                    .c64 = FunctionsOf<std::complex<float>>(),
                                    .c128 = FunctionsOf<std::complex<double>>(),
                                    .cholesky_gradient_f32 = &CholeskyGradient<float>,
                                    .cholesky_gradient_f64 = &CholeskyGradient<double>,
                                    .inverse_f16 = &InvertByLu,
                                    .qr_f16 = &DecomposeQr<uint16_t>};

}  // namespace

extern "C" __attribute__((visibility("default"))) const MatrixLibrary* tenon_linalg(size_t bytes) {
  return bytes == sizeof(kLibrary) ? &kLibrary : nullptr;
}

}  // namespace tenon::cpu
