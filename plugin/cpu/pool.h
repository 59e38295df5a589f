// Two-dimensional poolings: what forward and gradient kernels share.
#pragma once

#include <cstdint>

#include "absl/status/statusor.h"
#include "plugin/cpu/window.h"
#include "plugin/kernel.h"

namespace tenon::cpu {

// The pooling of an input [batch, rows.in, columns.in, channels] (or NCHW).
struct Pool {
  bool max = false, nchw = false;
  DataType type = DataType::kFloat;
  int64_t batch = 0, channels = 0;
  int64_t depth_window = 1;  // channels that make one output channel
  WindowAxis rows, columns;

  int64_t out_channels() const { return channels / depth_window; }
  // Element number of channel c at (row, column) of image n, in the input or the output.
  int64_t InputAt(int64_t n, int64_t row, int64_t column, int64_t c) const {
    return nchw ? ((n * channels + c) * rows.in + row) * columns.in + column
                : ((n * rows.in + row) * columns.in + column) * channels + c;
  }
  int64_t OutputAt(int64_t n, int64_t row, int64_t column, int64_t c) const {
    return nchw ? ((n * out_channels() + c) * rows.out + row) * columns.out + column
                : ((n * rows.out + row) * columns.out + column) * out_channels() + c;
  }
  Dims OutputDims() const;
};

// Reads ksize and strides from inputs `sizes_input` and the next, or from attributes if that is
// negative, and everything else from attributes. INVALID_ARGUMENT and UNIMPLEMENTED say what does
// not fit.
absl::StatusOr<Pool> ReadPool(const Prepare& p, const Shape& input, bool max, int sizes_input);

}  // namespace tenon::cpu
