// Float products without oneDNN: c = a * b, then perhaps + bias, then perhaps a clamp. For products
// so small that the call of a oneDNN primitive would cost more than the product, and for products
// of one row.
#pragma once

#include <cstdint>

namespace tenon::cpu {

// One product of [m, k] and [k, n]; k may be 0. Strides are in elements. The caller owns all
// memory, at any alignment. `c` must not overlap a, b or bias.
struct SmallGemm {
  int64_t m, n, k;
  const float* a;  // a[i * a_row + p * a_col]
  int64_t a_row, a_col;
  const float* b;  // b[p * b_row + j]
  int64_t b_row;
  float* c;  // c[i * c_row + j]
  int64_t c_row;
  const float* bias;  // n values, one per column; or null
  // Values below `floor` become floor, those above `ceiling` ceiling; NaN stays. Read only if
  // `clamp`.
  bool clamp;
  float floor, ceiling;
};

// Computes a product in the calling thread. Each element's sum starts at 0 and runs over p = 0 to
// k - 1 in this order; the bias is added at the end. The result therefore does not depend on the
// split of rows or columns between calls.
using SmallGemmFn = void (*)(const SmallGemm& g);
// Returns the function for CpuIsa().
SmallGemmFn ChooseSmallGemm();

// Writes the transpose [columns, rows] of a matrix [rows, columns]. The caller owns the memory,
// which must not overlap.
using TransposeFn = void (*)(const float* from, int64_t rows, int64_t columns, float* to);

namespace sse2 {
void MultiplySmall(const SmallGemm& g);
void TransposeSmall(const float* from, int64_t rows, int64_t columns, float* to);
}  // namespace sse2
namespace avx2 {
void MultiplySmall(const SmallGemm& g);
void TransposeSmall(const float* from, int64_t rows, int64_t columns, float* to);
}  // namespace avx2
namespace avx512 {
void MultiplySmall(const SmallGemm& g);
void TransposeSmall(const float* from, int64_t rows, int64_t columns, float* to);
}  // namespace avx512

}  // namespace tenon::cpu
