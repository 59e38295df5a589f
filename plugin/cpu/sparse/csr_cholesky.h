// The arithmetic of factors of sparse positive definite matrices. It computes with Eigen, which
// takes long to compile: so the source includes nothing of the kernels. The functions are
// thread-safe, and throw std::bad_alloc if memory is short.
#pragma once

#include <cstdint>

#include "plugin/cpu/sparse/csr_matrix.h"

namespace tenon::cpu {

// Sets `order` to an order of the rows and columns of square matrix b of the batch that leaves few
// entries in its factor.
void MinimumDegreeOrder(const CsrMatrix& m, int64_t b, int32_t* order);

// Appends to `factors` the factor L of square matrix b with L L^H = P A P^T. `permutation` is P,
// and holds each row once. Reads only the lower triangle of A. Returns false, and appends nothing,
// if A is not positive definite. T is the type of m: float, double, std::complex<float> or
// std::complex<double>.
template <typename T>
bool PutCholeskyFactor(const CsrMatrix& m, int64_t b, const int32_t* permutation,
                       CsrBuilder<T>* factors);

}  // namespace tenon::cpu
