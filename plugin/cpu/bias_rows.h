// y = x + bias over rows of floats.
#pragma once

#include <cstdint>

namespace tenon::cpu {

// x is [rows, n], bias has n values. y may be x.
struct BiasRows {
  const float* x;
  const float* bias;
  float* y;
  int64_t rows, n;
};

namespace sse2 {
void AddBias(const BiasRows& s);
}
namespace avx2 {
void AddBias(const BiasRows& s);
}
namespace avx512 {
void AddBias(const BiasRows& s);
}

}  // namespace tenon::cpu
