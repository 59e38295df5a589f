// Sliding windows of convolutions and poolings: attributes, checks, output sizes.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "plugin/kernel.h"

namespace tenon::cpu {

// One spatial dimension. out = (before + in + after - extent) / stride + 1.
struct WindowAxis {
  int64_t in = 0, out = 0;
  int64_t size = 1, stride = 1, dilation = 1;
  int64_t before = 0, after = 0;  // padding
  int64_t extent() const { return (size - 1) * dilation + 1; }
};

// strides, dilations (where the op has them), padding, explicit_paddings and data_format of an op
// over 2 spatial dimensions.
struct WindowAttrs {
  bool nchw = false;
  Dims strides, dilations;  // of all 4 dimensions, in the order of data_format
  std::string_view padding;
  Dims explicit_paddings;  // 8 values, or none
  int channel() const { return nchw ? 1 : 3; }
  int spatial(int i) const { return (nchw ? 2 : 1) + i; }
};

// INVALID_ARGUMENT for lists of the wrong length, strides or dilations below 1 or of batch and
// channels other than 1, negative paddings; UNIMPLEMENTED for a data format other than NHWC and
// NCHW. MaxPoolV2 passes its strides from an input.
absl::StatusOr<WindowAttrs> ReadWindowAttrs(const Prepare& p, const Dims* strides = nullptr);

// Sizes and padding of spatial dimension i for a window of `size`. INVALID_ARGUMENT if the window
// does not fit.
absl::StatusOr<WindowAxis> MakeWindowAxis(const Prepare& p, const WindowAttrs& attrs, int i,
                                          int64_t in, int64_t size);

// The piece of an axis that computes outputs [begin, begin + count): `in` values from `start` on,
// with its own padding. The piece of all outputs is the axis as it is, even if no window reaches
// its last values.
struct WindowPiece {
  int64_t start = 0;
  WindowAxis axis;
};
WindowPiece PieceOf(const WindowAxis& axis, int64_t begin, int64_t count);

}  // namespace tenon::cpu
