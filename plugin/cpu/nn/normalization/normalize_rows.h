// The inner loop of batch normalisation with known statistics: y = (x - mean) * factor + offset per
// channel, then perhaps + side, then perhaps max(y, 0). Computes in the calling thread. One copy
// per instruction set; select by SelectIsa.
#pragma once

#include <cstdint>

namespace tenon::cpu {

// x, y and side are [outer, channels, inner] in row-major order; inner is 1 for channels last.
// mean, factor and offset have one value per channel. Any alignment will do. y may be x or side.
// The multiplication by factor and the addition of offset are one FMA where the instruction set has
// it. With relu, NaN stays NaN.
struct NormalizeRows {
  const float* x;
  float* y;
  int64_t outer, channels, inner;
  const float* mean;
  const float* factor;
  const float* offset;
  const float* side;  // added before the maximum; null: 0 is added, which makes -0 to 0
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
