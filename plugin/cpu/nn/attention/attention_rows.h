// The inner loops of _TenonLayerNorm and _TenonAttention on rows of floats.
#pragma once

#include <cstdint>

namespace tenon::cpu {

// y = (x - mean) / sqrt(variance + epsilon) * scale + offset for each row of n values.
struct LayerNormRows {
  const float* x;
  float* y;  // may be x
  int64_t rows, n;
  const float* scale;  // n values each
  const float* offset;
  float epsilon;
};

// x = x * scale + mask for n values; the mask has as many, or one for all, or is null.
struct MaskedRow {
  float* x;
  int64_t n;
  float scale;
  const float* mask;
  bool one_mask;
};

// y[i] = the sum of q[p] * keys[i * key_row + p], p < k, i < n.
struct DotProducts {
  const float* q;
  const float* keys;
  int64_t key_row, n, k;
  float* y;
};

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
