// y = (x - mean) * factor + offset, per channel, then perhaps max(y, 0): batch normalisation with
// known statistics.
#pragma once

#include <cstdint>

namespace tenon::cpu {

// x is [outer, channels, inner]; the vectors have one value per channel. y may be x.
struct NormalizeRows {
  const float* x;
  float* y;
  int64_t outer, channels, inner;
  const float* mean;
  const float* factor;
  const float* offset;
  const float* side;  // added before the maximum, of x's shape; or null
  bool relu;
};

namespace sse2 {
void Normalize(const NormalizeRows& s);
}
namespace avx2 {
void Normalize(const NormalizeRows& s);
}
namespace avx512 {
void Normalize(const NormalizeRows& s);
}

}  // namespace tenon::cpu
