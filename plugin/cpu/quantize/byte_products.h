// The inner loop of products of 8-bit values, which are summed in 32 bits.
#pragma once

#include <algorithm>
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

// Does what `add` does, for any number of rows, each of n elements, one after the other in `b`.
// value(r) returns what ByteProducts calls x[r].
template <typename Byte, typename Value>
void AddByteRows(ByteProducts<Byte> add, int64_t rows, Value value, const Byte* b, int64_t n,
                 int32_t zero, int32_t* sums) {
  constexpr int64_t kPiece = 64;
  int32_t x[kPiece];
  for (int64_t first = 0; first < rows; first += kPiece) {
    const int64_t count = std::min(kPiece, rows - first);
    for (int64_t r = 0; r < count; ++r) x[r] = value(first + r);
    add(x, count, b + first * n, n, n, zero, sums);
  }
}

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
