// The inner loop of convolutions in which each channel has a filter of its own.
#pragma once

#include <cstdint>

namespace tenon::cpu {

// Adds x[i] * w[i] to sums[i] for i < n. No alignment is required; `sums` must not overlap x or w.
template <typename T>
using ChannelSums = void (*)(const T* x, const T* w, int64_t n, T* sums);

// The loop for CpuIsa(). T is float, double, uint32_t or uint64_t; integers wrap around.
template <typename T>
ChannelSums<T> ChooseChannelSums();

// The loops of each instruction set.
struct AllChannelSums {
  ChannelSums<float> f32;
  ChannelSums<double> f64;
  ChannelSums<uint32_t> u32;
  ChannelSums<uint64_t> u64;
};
namespace sse2 {
extern const AllChannelSums kChannelSums;
}
namespace avx2 {
extern const AllChannelSums kChannelSums;
}
namespace avx512 {
extern const AllChannelSums kChannelSums;
}

}  // namespace tenon::cpu
