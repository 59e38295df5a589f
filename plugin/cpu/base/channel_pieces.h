// Pieces of tensors with channels that stay in the first cache.
#pragma once

#include <algorithm>
#include <cstdint>

namespace tenon::cpu {

// A part of a tensor [outer, channels, inner], contiguous from element `at` of the tensor on. The
// part is [rows, channels, inner] and begins in channel `channel`: its sizes may be below the
// tensor's.
struct ChannelPiece {
  int64_t at, rows, channel, channels, inner;
  int64_t elements() const { return rows * channels * inner; }
};

// Calls f(piece) for pieces of at most `most` elements, which must be 1 at least, that together are
// the outer elements [begin, end).
template <typename F>
void ForEachChannelPiece(int64_t begin, int64_t end, int64_t channels, int64_t inner, int64_t most,
                         const F& f) {
  const int64_t row = channels * inner;
  if (row == 0) return;
  const auto split = [](int64_t count, int64_t size, const auto& part) {
    for (int64_t i = 0; i < count; i += size) part(i, std::min(size, count - i));
  };
  if (row <= most) {
    split(end - begin, most / row, [&](int64_t i, int64_t rows) {
      f(ChannelPiece{(begin + i) * row, rows, 0, channels, inner});
    });
    return;
  }
  for (int64_t o = begin; o < end; ++o) {
    if (inner == 1) {
      split(channels, most, [&](int64_t c, int64_t count) {
        f(ChannelPiece{o * row + c, 1, c, count, 1});
      });
      continue;
    }
    for (int64_t c = 0; c < channels; ++c) {
      split(inner, most, [&](int64_t i, int64_t count) {
        f(ChannelPiece{o * row + c * inner + i, 1, c, 1, count});
      });
    }
  }
}

}  // namespace tenon::cpu
