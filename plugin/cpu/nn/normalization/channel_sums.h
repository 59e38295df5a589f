// Sums per channel, for the gradients of batch normalisations.
#pragma once

#include <cstdint>

#include "graph/tensor/dtype.h"
#include "plugin/cpu/base/workers.h"

namespace tenon::cpu {

// A tensor seen as [outer, channels, inner], in row-major order. inner is 1 for channels last.
struct ChannelLayout {
  int64_t outer = 0, channels = 0, inner = 1;
  int64_t count() const { return outer * inner; }  // elements of a channel

  // Calls f(c, element number) for each element of channels [begin, end) at index `o` of the first
  // dimension, in the order of memory.
  template <typename F>
  void ForEach(int64_t o, int64_t begin, int64_t end, F f) const {
    const int64_t row = o * channels;
    if (inner == 1) {
      for (int64_t c = begin; c < end; ++c) f(c, row + c);
      return;
    }
    for (int64_t c = begin; c < end; ++c) {
      for (int64_t i = 0; i < inner; ++i) f(c, (row + c) * inner + i);
    }
  }
};

// The sums of dy and of dy * (x - mean) for each channel, in double. dy and x have the same layout.
struct GradientSums {
  DataType type;  // of dy and x: float, double, half or bfloat16
  const void *dy, *x;
  const double* mean;  // one value per channel
  // Results, one value per channel, which replace any previous values: the sum of dy, and the sum
  // of dy * (x - mean).
  double *sum, *centered;
};
// Computes the sums, split over `workers`. A thread sums whole channels, in the order of memory:
// the results do not depend on the number of threads.
void SumGradients(const ChannelLayout& layout, const GradientSums& g, Workers* workers);

}  // namespace tenon::cpu
