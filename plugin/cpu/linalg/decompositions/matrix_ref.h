// Matrices as the functions of this folder take them. These functions are the arithmetic of the
// linalg kernels, one matrix at a time. They compute with Eigen, which takes long to compile: so
// their sources include nothing of the kernels.
//
// Unless a function says otherwise, T is float, double, std::complex<float> or
// std::complex<double>, no matrix is empty, results have the sizes that the function's equations
// give them and do not overlap the inputs. The adjoint of a real matrix is its transpose. All
// functions are thread-safe, and throw std::bad_alloc if memory is short.
#pragma once

#include <cstdint>

namespace tenon::cpu {

// A row-major matrix in memory that the caller owns.
template <typename T>
struct MatrixRef {
  T* row(int64_t r) const { return data + r * columns; }
  T& operator()(int64_t r, int64_t c) const { return data[r * columns + c]; }

  T* data;
  int64_t rows, columns;
};

}  // namespace tenon::cpu
