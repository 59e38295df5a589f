// What the kernels of depthwise.cl are told.
#pragma once

#include "../base/launch.h"
#include "../base/window.h"

namespace opencl {

// depthwise.cl, Depthwise.
struct DepthwiseNumbers {
  cl_int height, width, channels, multiplier;
  cl_int window_y, window_x, stride_y, stride_x, dilation_y, dilation_x, pad_y, pad_x;
  cl_int out_height, out_width;
};

// `image`: [n, height, width, channels]; `filter`: [window, window, channels, multiplier].
inline DepthwiseNumbers DepthwiseNumbersOf(const Dims& image, const Dims& filter,
                                           const WindowSide& y, const WindowSide& x) {
  const auto n = [](int64_t value) { return static_cast<cl_int>(value); };
  return {n(y.in),     n(x.in),     n(image[3]), n(filter[3]),  n(y.window),
          n(x.window), n(y.stride), n(x.stride), n(y.dilation), n(x.dilation),
          n(y.before), n(x.before), n(y.out),    n(x.out)};
}

}  // namespace opencl
