// The arithmetic of factors of sparse positive definite matrices. It computes with Eigen, which
// takes long to compile: so the source includes nothing of the kernels. The functions are
// thread-safe, and throw std::bad_alloc if memory is short.
#pragma once

#include <cstdint>

#include "plugin/cpu/sparse/csr_matrix.h"

namespace tenon::cpu {

// Sets order[i], for each i below m.rows(), to the row of square matrix b of the batch that is to
// become row i: an order that leaves few entries in the factor. Reads the places of the entries in
// the lower triangle, not their values. `order` may be the `permutation` of PutCholeskyFactor.
void MinimumDegreeOrder(const CsrMatrix& m, int64_t b, int32_t* order);

// Appends to `factors` the m.rows() rows of the lower triangle L with L L^H = P A P^T, and ends the
// last row. A is square matrix b. Row i of P A is row permutation[i] of A; the caller has checked
// that `permutation` holds each row number once. Reads only the lower triangle of A; entries at one
// place are added. Returns false, and appends nothing, if A is not positive definite; NaN in A is
// not noticed, but gives NaN in L. T is the type of m: float, double, std::complex<float> or
// std::complex<double>.
template <typename T>
bool PutCholeskyFactor(const CsrMatrix& m, int64_t b, const int32_t* permutation,
                       CsrBuilder<T>* factors);

}  // namespace tenon::cpu
