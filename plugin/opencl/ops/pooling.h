// What the kernels of pool.cl are told.
#pragma once

#include "../base/launch.h"
#include "../base/window.h"

namespace opencl {

// pool.cl, Pool.
struct PoolNumbers {
  cl_int height, width, channels;
  cl_int window_y, window_x, stride_y, stride_x, pad_y, pad_x;
  cl_int out_height, out_width;
};

inline PoolNumbers PoolNumbersOf(const WindowSide& y, const WindowSide& x, int64_t channels) {
  const auto n = [](int64_t value) { return static_cast<cl_int>(value); };
  return {n(y.in),     n(x.in),     n(channels), n(y.window), n(x.window), n(y.stride),
          n(x.stride), n(y.before), n(x.before), n(y.out),    n(x.out)};
}

}  // namespace opencl
