// The inner loops around products of bytes with floats on both sides.
#pragma once

#include <cstdint>

namespace tenon::cpu {

// Sums of products of bytes and what becomes of them, row by row:
// y = (sums - offsets) * (scale * scales) + bias + add, limited to [floor, ceiling]; a NaN stays.
// offsets, scales and bias have one value for each column; null offsets, bias and add are zeros.
struct ScaledSums {
  const int32_t* sums;
  int64_t sums_row;  // numbers from a row to the next one
  int64_t rows, columns;
  const int32_t* offsets;
  float scale;
  const float* scales;
  const float* bias;
  const float* add;
  float floor, ceiling;
  float* y;
  int64_t y_row;  // of y and add
};

// The loops for one instruction set. The caller owns all memory, at any alignment.
struct QuantizedLoops {
  // The least and the greatest of 0 and the values; both NaN if a value is NaN or infinite.
  void (*extremes)(const float* x, int64_t n, float* low, float* high);
  // bytes[i] is x[i] * inverse, limited to [least, most], minus `least`, rounded to the nearest
  // whole number, halves up; `most` - `least` is at most 255. False if a value is NaN.
  bool (*to_bytes)(const float* x, int64_t n, float inverse, float least, float most,
                   uint8_t* bytes);
  void (*from_sums)(const ScaledSums& s);
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
