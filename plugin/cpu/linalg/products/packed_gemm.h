// The inner loops of products of any type: one block of registers from packed operands, and one by
// one.
#pragma once

#include <cstdint>

namespace tenon::cpu {

// What becomes of the sums of a block.
enum class SumInto { kSet, kAdd, kSubtract };

// The loops for T and one instruction set. T is float, double, uint32_t or uint64_t; integers wrap
// around.
template <typename T>
struct PackedGemm {
  int rows, columns;  // of a block
  // Sums a[p * rows + i] * b[p * columns + j] over p = 0 to k - 1, for i < m and j < n, and sets
  // c[i * c_row + j] to the sum, adds the sum to it or subtracts the sum from it. m is at most
  // `rows` and n at most `columns`; all values of a and b are read whatever m and n are. Each sum
  // starts at 0 and runs in the order of p. The caller owns the memory, at the alignment of T.
  void (*multiply)(int64_t k, const T* a, const T* b, int m, int n, T* c, int64_t c_row,
                   SumInto into);
  // The same where the left side has its rows one after the other: sums a[i * a_row + p] *
  // b[p * columns + j]. All of `rows` rows are read whatever m is.
  void (*multiply_rows)(int64_t k, const T* a, int64_t a_row, const T* b, int m, int n, T* c,
                        int64_t c_row, SumInto into);
  // Adds x[k][i] * w[k][i] to sums[i] for k < count, in this order, and i < n, at the alignment of
  // T. `sums` must not overlap the others.
  void (*add_products)(int count, const T* const* x, const T* const* w, int64_t n, T* sums);
};

// The distance of rows of k numbers of T for multiply_rows, at least k: an odd number of lines of a
// cache, so that rows do not crowd the same places of it.
template <typename T>
int64_t PackedRowOf(int64_t k) {
  constexpr auto kLine = static_cast<int64_t>(64 / sizeof(T));
  return ((k + kLine - 1) / kLine | 1) * kLine;
}

// The loops for CpuIsa().
template <typename T>
const PackedGemm<T>& ChoosePackedGemm();

// The loops of each instruction set.
struct PackedGemms {
  PackedGemm<float> f32;
  PackedGemm<double> f64;
  PackedGemm<uint32_t> u32;
  PackedGemm<uint64_t> u64;
};
namespace sse2 {
extern const PackedGemms kPackedGemms;
}
namespace avx2 {
extern const PackedGemms kPackedGemms;
}
namespace avx512 {
extern const PackedGemms kPackedGemms;
}

}  // namespace tenon::cpu
