// The inner loops of products with coded weights: weights of 4 or 8 bits that become floats in
// registers, and rows of floats that become bytes.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tenon::cpu {

// How weights [k, n] of 4 or 8 bits lie in memory: panels of kCodedColumns columns, each a row of
// blocks of kCodedRows rows. A block is a scale in bfloat16 for each column, then words of 32 bits:
// one for each column and each 32 / bits rows, the first row in the lowest bits. A code is a number
// in two's complement; a weight is code * scale. What is beyond row k or column n has code 0;
// beyond column n the scale is 0, too.
inline constexpr int kCodedColumns = 64, kCodedRows = 32;
constexpr int64_t CodedBlockBytes(int bits) {
  return kCodedColumns * (2 + int64_t{kCodedRows} * bits / 8);
}

// Rows of floats by one panel of weights in codes.
struct CodedProduct {
  int64_t blocks;     // of the panel
  const void* panel;  // at any alignment
  const float* a;     // row i begins at a + i * a_row, and has blocks * kCodedRows values
  int64_t a_row;
  int m;     // rows: 1 to kMostCodedRows
  float* c;  // row i is written to c + i * kCodedColumns
};
inline constexpr int kMostCodedRows = 4;

// The loops for one instruction set. The caller owns all memory.
struct CodedLoops {
  // The sum of a row runs over its blocks in their order, and does not depend on m.
  void (*multiply4)(const CodedProduct& product);
  void (*multiply8)(const CodedProduct& product);
  // Writes the weights of `blocks` blocks as floats, in pieces of `columns` columns: piece i begins
  // at to + i * blocks * kCodedRows * columns and is row-major. `columns` divides kCodedColumns and
  // is a multiple of the floats in a vector.
  void (*expand4)(const void* from, int64_t blocks, int columns, float* to);
  void (*expand8)(const void* from, int64_t blocks, int columns, float* to);
  // The sum of the squared errors of kCodedRows numbers that become codes of 4 bits by a scale that
  // is not 0.
  float (*squared_error4)(const float* numbers, float scale);
  // Writes x as unsigned bytes: x[i] is about scale * (bytes[i] - zero), and is within scale / 2
  // times 1.0001. Zeros are exact. The scale is NaN if x holds a NaN or an infinity: the bytes are
  // then 0.
  void (*quantize_row)(const float* x, int64_t k, uint8_t* bytes, double* scale, int32_t* zero);
  // y[j] = sums[j] * (scale * scales[j]) + bias[j], computed in double and then rounded to float. A
  // null `bias` adds nothing. `y` must not overlap the others.
  void (*scale_sums)(const int32_t* sums, int64_t n, double scale, const double* scales,
                     const float* bias, float* y);
};
// Returns the loops for CpuIsa().
const CodedLoops& ChooseCodedLoops();

namespace sse2 {
extern const CodedLoops kCodedLoops;
}
namespace avx2 {
extern const CodedLoops kCodedLoops;
}
namespace avx512 {
extern const CodedLoops kCodedLoops;
}

}  // namespace tenon::cpu
