// The inner loops of _TenonLayerNorm and _TenonAttention on rows of floats, at any alignment. The
// order of the sum of a row depends on the row's length and on the instruction set, not on the rows
// that the same call computes.
#pragma once

#include <cstdint>

namespace tenon::cpu {

// y = (x - mean) / sqrt(variance + epsilon) * scale + offset. Each row has a mean and a variance
// (the mean square of x - mean) of its own, computed in two passes over the row.
struct LayerNormRows {
  const float* x;  // [rows, n]
  float* y;        // [rows, n]; may be x
  int64_t rows, n;
  const float* scale;   // n values
  const float* offset;  // n values
  float epsilon;
};

// x = x * scale + mask for n values, in place.
struct MaskedRow {
  float* x;
  int64_t n;
  float scale;
  const float* mask;  // n values, or one value if one_mask, or null: no mask
  bool one_mask;
};

// y[i] = the sum over p < k of q[p] * keys[i * key_row + p], for i < n.
struct DotProducts {
  const float* q;
  const float* keys;
  int64_t key_row, n, k;
  float* y;
};

// One set of functions per instruction set; select by SelectIsa. Each computes in the calling
// thread.
#define TENON_ATTENTION_ROWS(isa)              \
  namespace isa {                              \
  void NormalizeLayer(const LayerNormRows& s); \
  void ScaleAndMask(const MaskedRow& s);       \
  void MultiplyWithKeys(const DotProducts& s); \
  }
TENON_ATTENTION_ROWS(sse2)
TENON_ATTENTION_ROWS(avx2)
TENON_ATTENTION_ROWS(avx512)
#undef TENON_ATTENTION_ROWS

}  // namespace tenon::cpu
