// The last step of fused quantized products without a summand, for many sums at once.
#pragma once

#include <cstdint>

namespace tenon::cpu {

// Each function stores sums[i] * factor[i] + offset[i] as to[i] for i < n; `relu` makes what is
// negative 0. Integers are rounded, halves to even, and saturate; NaN becomes the lowest integer,
// with `relu` too, and stays a NaN of floats. The
// arithmetic is that of double, with a rounding behind the product. Nothing may overlap `to`.
struct StoreSums {
  template <typename T>
  using Function = void (*)(const int32_t* sums, const double* factor, const double* offset,
                            bool relu, int64_t n, T* to);
  Function<int8_t> s8;
  Function<uint8_t> u8;
  Function<int32_t> s32;
  Function<float> f32;
};

// Returns the functions for CpuIsa(). Thread-safe.
const StoreSums& ChooseStoreSums();

namespace sse2 {
extern const StoreSums kStoreSums;
}
namespace avx2 {
extern const StoreSums kStoreSums;
}
namespace avx512 {
extern const StoreSums kStoreSums;
}

}  // namespace tenon::cpu
