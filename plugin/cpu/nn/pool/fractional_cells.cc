// Ben Graham, "Fractional max-pooling" (2014); the order in which random words are used is
// TensorFlow's.
#include "plugin/cpu/nn/pool/fractional_cells.h"

#include <algorithm>
#include <cmath>

namespace tenon::cpu {
namespace {

// Boundary i is ceil(alpha * (i + u)) for one random u, small enough that the first and the last
// cell are no larger or smaller than the others.
void DrawPseudoRandom(int64_t in, int64_t out, Philox& philox, int64_t* boundaries) {
  const double alpha = static_cast<double>(in) / static_cast<double>(out);
  const int64_t k = in / out;
  const double first = static_cast<double>(k + 2) / alpha - 1;
  const double last = static_cast<double>(in + 1 - k) / alpha - static_cast<double>(out - 1);
  const PhiloxWords w = philox.Next();
  const double u = UniformDouble(w[0], w[1]) * std::min(first, last);
  for (int64_t i = 1; i < out; ++i) {
    boundaries[i] = static_cast<int64_t>(std::ceil(alpha * (static_cast<double>(i) + u))) - 1;
  }
}

// Cells of k and k + 1 rows, shuffled.
void DrawShuffled(int64_t in, int64_t out, Philox& philox, int64_t* boundaries) {
  // The sizes stand where their sums, the boundaries, go.
  int64_t* const sizes = boundaries + 1;
  for (int64_t i = 0; i < out; ++i) sizes[i] = in / out + (i < in % out ? 1 : 0);
  PhiloxWords words = {};
  for (int64_t i = 0; i < out; ++i) {
    if (i % 4 == 0) words = philox.Next();
    if (i + 1 == out) break;
    // A Fisher-Yates shuffle, four words of Philox at a time.
    const auto left = static_cast<uint32_t>(out - i);
    std::swap(sizes[i], sizes[i + words[i % 4] % left]);
  }
  for (int64_t i = 1; i < out; ++i) sizes[i] += sizes[i - 1];
}

}  // namespace

void DrawBoundaries(int64_t in, int64_t out, bool pseudo_random, Philox& philox,
                    int64_t* boundaries) {
  if (pseudo_random) {
    DrawPseudoRandom(in, out, philox, boundaries);
  } else {
    DrawShuffled(in, out, philox, boundaries);
  }
  boundaries[0] = 0;
  boundaries[out] = in;
}

int64_t BoundaryBlocks(int64_t out) { return (out + 3) / 4; }

}  // namespace tenon::cpu
