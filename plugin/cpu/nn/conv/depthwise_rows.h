// The inner loop of a depthwise convolution: channels last, one output channel per input channel.
// One call computes one or two rows of outputs: bias plus the sum of products, then perhaps a
// clamp. Products and sums of half and bfloat16 are floats; an output is rounded once.
#pragma once

#include <cstdint>

namespace tenon::cpu {

// The caller owns all memory.
struct DepthwiseRows {
  const void* in;      // the image, [rows_in, columns_in, channels]
  const void* filter;  // [window, window, channels]; of half and bfloat16 as floats
  void* out;           // the first row of outputs, [columns_out, channels]; the second lies behind
  const void* bias;    // one value per channel, of the filter's type, or null
  int64_t channels, rows_in, columns_in, columns_out;  // columns_out >= 4
  int64_t window, stride;  // of rows and columns alike; window is 3 or 5, stride is 1 or 2
  int64_t top, left;  // row and column at which the first output's window begins; may be negative
  bool both;          // compute the second row as well; its windows begin at row top + stride
  // Values below `floor` become floor, those above `ceiling` ceiling; NaN stays. Read only if
  // `clamp`.
  bool clamp;
  float floor, ceiling;
};

// Each computes in the calling thread. A sum starts at the bias and takes the products in the order
// of the filter's elements. Places outside of the image count as 0 and are multiplied too: an
// infinite weight gives NaN there, as in TensorFlow. No alignment is required.
using DepthwiseLoop = void (*)(const DepthwiseRows& d);
struct DepthwiseLoops {
  DepthwiseLoop floats;
  DepthwiseLoop doubles;
  DepthwiseLoop halves;
  DepthwiseLoop bfloat16s;
};

// One copy per instruction set; select by SelectIsa.
namespace sse2 {
extern const DepthwiseLoops kDepthwiseLoops;
}
namespace avx2 {
extern const DepthwiseLoops kDepthwiseLoops;
}
namespace avx512 {
extern const DepthwiseLoops kDepthwiseLoops;
}

}  // namespace tenon::cpu
