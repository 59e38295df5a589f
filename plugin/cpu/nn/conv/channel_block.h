// Blocks of channels for kernels that slide windows. A block has few channels, so that its values
// at all places of a small image fit a core's cache. A loop over a full block has a constant
// length.
#pragma once

#include <algorithm>
#include <cstdint>

namespace tenon::cpu {

// Channels [first, first + size) of one image.
struct ChannelBlock {
  static constexpr int64_t kMost = 16;
  int64_t image, first, size;

  // Returns the number of blocks of an image.
  static int64_t Count(int64_t channels) { return (channels + kMost - 1) / kMost; }
  // Returns block i of image number `image`, i < Count(channels). Only the last block may have
  // fewer than kMost channels.
  static ChannelBlock At(int64_t image, int64_t i, int64_t channels) {
    return {image, i * kMost, std::min(kMost, channels - i * kMost)};
  }

  // Calls f(c) for c in [0, size), in order: channel first + c. The first loop has a constant
  // length, so that the compiler can unroll it.
  template <typename F>
  void ForEach(F f) const {
    if (size == kMost) {
      for (int64_t c = 0; c < kMost; ++c) f(c);
    } else {
      for (int64_t c = 0; c < size; ++c) f(c);
    }
  }
};

}  // namespace tenon::cpu
