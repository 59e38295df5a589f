// Matrix products of plain numbers, row major.
#pragma once

#include <cstdint>

namespace pjref {

// c[m, n] += sum over k of a[m, k] * b[k, n]. T: float, double, uint64_t (integers wrap), or
// std::complex<double>. `c` must not overlap a or b.
template <typename T>
void MultiplyAdd(int64_t m, int64_t n, int64_t k, const T* a, const T* b, T* c);

}  // namespace pjref
