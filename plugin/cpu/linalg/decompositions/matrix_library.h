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

// The functions for one type of elements. Above each member stands the function that it is; the
// function's header says what it does.
template <typename T>
struct MatrixFunctions {
  using Complex = std::complex<decltype(std::abs(T()))>;
  using In = MatrixRef<const T>;
  using Out = MatrixRef<T>;
  using ComplexOut = MatrixRef<Complex>;

  // DecomposeCholesky
  void (*cholesky)(In a, Out l);
  // DecomposeEigen
  bool (*eigen)(In a, bool with_vectors, ComplexOut values, ComplexOut vectors);
  // DecomposeSelfAdjoint
  bool (*self_adjoint)(In a, bool with_vectors, Out values, Out vectors);
  // SolveNormalEquations
  bool (*normal_equations)(In a, In b, double regularizer, Out x);
  // SolveOrthogonally
  void (*orthogonal_solution)(In a, In b, Out x);
  // DecomposeLu
  bool (*lu32)(In a, Out lu, int32_t* order);
  bool (*lu64)(In a, Out lu, int64_t* order);
  // InvertByLu
  bool (*inverse)(In a, bool adjoint, Out inverse);
  // SolveByLu
  bool (*lu_solve)(In a, bool adjoint, In b, Out x);
  // ComputeLogDeterminant
  LogDeterminant<T> (*log_determinant)(In a);
  // MatrixExponential
  void (*exponential)(In a, Out result);
  // MatrixLogarithm
  bool (*logarithm)(In a, Out result);
  // MatrixSquareRoot
  void (*square_root)(In a, Out result);
  // DecomposeQr
  void (*qr)(In a, Out q, Out r);
  // DecomposeSingular
  void (*svd)(In a, SingularVectors vectors, Out values, Out u, Out v);
  // SolveTriangular
  void (*triangular)(In a, bool lower, bool adjoint, In b, Out x);
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
