// Two rows of outputs of a depthwise convolution of floats, channels last, one output channel for
// each of the input: sums of products (+ bias), then perhaps max and min.
#pragma once

#include <cstdint>

namespace tenon::cpu {

struct DepthwiseRows {
  const float* in;                                     // the image, [rows_in, columns_in, channels]
  const float* filter;                                 // [window, window, channels]
  float* out;                                          // the first row, [columns_out, channels]
  const float* bias;                                   // one value per channel, or null
  int64_t channels, rows_in, columns_in, columns_out;  // at least 4 columns_out
  int64_t window, stride;                              // 3 or 5; 1 or 2
  int64_t top, left;  // where in the image the window of the first output begins; may be outside
  bool both;          // the second row too
  // Values below `floor` become floor, those above `ceiling` ceiling; NaN stays. Read only if
  // `clamp`.
  bool clamp;
  float floor, ceiling;
};

// Each output is summed up in the order of the filter; beyond the image lies 0.
namespace sse2 {
void ConvolveRows(const DepthwiseRows& d);
}
namespace avx2 {
void ConvolveRows(const DepthwiseRows& d);
}
namespace avx512 {
void ConvolveRows(const DepthwiseRows& d);
}

}  // namespace tenon::cpu
