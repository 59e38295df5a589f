// The inner loops around products of bytes with floats on both sides.
#pragma once

#include <cstdint>

namespace tenon::cpu {

// The loops for one instruction set. The caller owns all memory, at any alignment.
struct QuantizedLoops {
  // The least and the greatest of 0 and the values; both NaN if a value is NaN or infinite.
  void (*extremes)(const float* x, int64_t n, float* low, float* high);
  // bytes[i] is x[i] * inverse, limited to [least, most], minus `least`, rounded to the nearest
  // whole number, halves up; `most` - `least` is at most 255. False if a value is NaN.
  bool (*to_bytes)(const float* x, int64_t n, float inverse, float least, float most,
                   uint8_t* bytes);
  // y[i * n + j] = sums[i * n + j] * (scale * scales[j]) + bias[j] for i < m and j < n; null for no
  // bias.
  void (*from_sums)(const int32_t* sums, int64_t m, int64_t n, float scale, const float* scales,
                    const float* bias, float* y);
};
// Returns the loops for CpuIsa().
const QuantizedLoops& ChooseQuantizedLoops();

namespace sse2 {
extern const QuantizedLoops kQuantizedLoops;
}
namespace avx2 {
extern const QuantizedLoops kQuantizedLoops;
}
namespace avx512 {
extern const QuantizedLoops kQuantizedLoops;
}

}  // namespace tenon::cpu
