// The inner loop of products of 8-bit values, which are summed in 32 bits.
#pragma once

#include <cstdint>

namespace tenon::cpu {

// Adds x[r] * (b[r * row + j] - zero) for all r < rows to sums[j], for j < n. Sums wrap around.
// `sums` must not overlap x or b.
template <typename Byte>
using ByteProducts = void (*)(const int32_t* x, int64_t rows, const Byte* b, int64_t row, int64_t n,
                              int32_t zero, int32_t* sums);

// The loops for CpuIsa().
struct AllByteProducts {
  ByteProducts<uint8_t> u8;
  ByteProducts<int8_t> s8;
};
const AllByteProducts& ChooseByteProducts();

namespace sse2 {
extern const AllByteProducts kByteProducts;
}
namespace avx2 {
extern const AllByteProducts kByteProducts;
}
namespace avx512 {
extern const AllByteProducts kByteProducts;
}

}  // namespace tenon::cpu
