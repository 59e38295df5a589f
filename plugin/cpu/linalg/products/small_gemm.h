// Float products too small, or with too few rows, for a oneDNN primitive to pay: c = a * b (+ bias)
// (then max and min).
#pragma once

#include <cstdint>

namespace tenon::cpu {

struct SmallGemm {
  int64_t m, n, k;
  const float* a;  // a[i * a_row + p * a_col]
  int64_t a_row, a_col;
  const float* b;  // b[p * b_row + j]
  int64_t b_row;
  float* c;  // c[i * c_row + j]
  int64_t c_row;
  const float* bias;  // n values, or null
  // Values below `floor` become floor, those above `ceiling` ceiling; NaN stays. Read only if
  // `clamp`.
  bool clamp;
  float floor, ceiling;
};

// For this processor. Each element is summed in order of p, so the result does not depend on how
// columns or rows are split between calls.
using SmallGemmFn = void (*)(const SmallGemm& g);
SmallGemmFn ChooseSmallGemm();

namespace sse2 {
void MultiplySmall(const SmallGemm& g);
}
namespace avx2 {
void MultiplySmall(const SmallGemm& g);
}
namespace avx512 {
void MultiplySmall(const SmallGemm& g);
}

}  // namespace tenon::cpu
