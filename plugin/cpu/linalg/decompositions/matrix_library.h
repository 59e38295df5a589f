// The functions of this folder as a table. They are a library of their own,
// lib/tenon/libtenon_linalg.so, which libtenon opens when the first kernel needs it
// (plugin/cpu/linalg/matrix_library_loader.h): Eigen takes a fifth of the compile time, and few
// models decompose a matrix.
#pragma once

#include <complex>
#include <cstdlib>

#include "plugin/cpu/linalg/decompositions/lu.h"
#include "plugin/cpu/linalg/decompositions/matrix_ref.h"
#include "plugin/cpu/linalg/decompositions/svd.h"

namespace tenon::cpu {

// The functions for one type of elements. A member does what the function beside it does, by its
// header.
template <typename T>
struct MatrixFunctions {
  using Complex = std::complex<decltype(std::abs(T()))>;
  using InOut = void (*)(MatrixRef<const T>, MatrixRef<T>);
  using TestedInOut = bool (*)(MatrixRef<const T>, MatrixRef<T>);

  InOut cholesky;  // DecomposeCholesky
  bool (*eigen)(MatrixRef<const T>, bool, MatrixRef<Complex>,
                MatrixRef<Complex>);  // DecomposeEigen
  bool (*self_adjoint)(MatrixRef<const T>, bool, MatrixRef<T>,
                       MatrixRef<T>);  // DecomposeSelfAdjoint
  bool (*normal_equations)(MatrixRef<const T>, MatrixRef<const T>, double,
                           MatrixRef<T>);  // SolveNormalEquations
  void (*orthogonal_solution)(MatrixRef<const T>, MatrixRef<const T>,
                              MatrixRef<T>);                 // SolveOrthogonally
  bool (*lu32)(MatrixRef<const T>, MatrixRef<T>, int32_t*);  // DecomposeLu
  bool (*lu64)(MatrixRef<const T>, MatrixRef<T>, int64_t*);  // DecomposeLu
  bool (*inverse)(MatrixRef<const T>, bool, MatrixRef<T>);   // InvertByLu
  bool (*lu_solve)(MatrixRef<const T>, bool, MatrixRef<const T>, MatrixRef<T>);  // SolveByLu
  LogDeterminant<T> (*log_determinant)(MatrixRef<const T>);    // ComputeLogDeterminant
  InOut exponential;                                           // MatrixExponential
  TestedInOut logarithm;                                       // MatrixLogarithm
  InOut square_root;                                           // MatrixSquareRoot
  void (*qr)(MatrixRef<const T>, MatrixRef<T>, MatrixRef<T>);  // DecomposeQr
  void (*svd)(MatrixRef<const T>, SingularVectors, MatrixRef<T>, MatrixRef<T>,
              MatrixRef<T>);  // DecomposeSingular
  void (*triangular)(MatrixRef<const T>, bool, bool, MatrixRef<const T>,
                     MatrixRef<T>);  // SolveTriangular
};

// What is there for some types only. A half is the bits of one.
struct MatrixLibrary {
  MatrixFunctions<float> f32;
  MatrixFunctions<double> f64;
  MatrixFunctions<std::complex<float>> c64;
  MatrixFunctions<std::complex<double>> c128;
  void (*cholesky_gradient_f32)(MatrixRef<const float>, MatrixRef<const float>, MatrixRef<float>);
  void (*cholesky_gradient_f64)(MatrixRef<const double>, MatrixRef<const double>,
                                MatrixRef<double>);
  bool (*inverse_f16)(MatrixRef<const uint16_t>, bool, MatrixRef<uint16_t>);
  void (*qr_f16)(MatrixRef<const uint16_t>, MatrixRef<uint16_t>, MatrixRef<uint16_t>);
};

// The only name that the library exports: a function that returns its table, which lives as long as
// the library is open, or null if `bytes`, the size of the caller's MatrixLibrary, is another one
// than the library's.
inline constexpr char kMatrixLibraryEntry[] = "tenon_linalg";
using MatrixLibraryEntry = const MatrixLibrary* (*)(size_t bytes);

}  // namespace tenon::cpu
