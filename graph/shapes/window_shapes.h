// The arithmetic of the windows of convolution and pooling.
#pragma once

#include "graph/shapes/common_shapes.h"

namespace tenon::ops {

// The places of batch, channels and spatial dimensions in a format such as NHWC, NCHW, NDHWC or
// NCDHW.
struct WindowFormat {
  int spatial = 2;  // the number of spatial dimensions
  bool channels_first = false;
  int rank() const { return spatial + 2; }
  int channels() const { return channels_first ? 1 : rank() - 1; }
  int first() const { return channels_first ? 2 : 1; }  // the first spatial dimension
};

// The format that attribute data_format names; channels last if the op has no such attribute.
// UNIMPLEMENTED for vectorized formats (NCHW_VECT_C).
absl::StatusOr<WindowFormat> WindowFormatOf(InferenceContext& c, int spatial);

// The padding of each dimension, from attributes padding and explicit_paddings.
struct WindowPadding {
  bool same = false;
  std::vector<int64_t> explicit_pads;  // before and after, per dimension in the format's order;
                                       // empty unless EXPLICIT
};
absl::StatusOr<WindowPadding> WindowPaddingOf(InferenceContext& c, int rank);

// The number of positions of a window of `size` elements that moves by `stride` along dimension
// `axis` of `in` elements; kUnknownDim where a size is unknown.
absl::StatusOr<int64_t> WindowedDim(int64_t in, int64_t size, int64_t dilation, int64_t stride,
                                    const WindowPadding& padding, int axis);
// WindowedDim for ops whose TensorFlow version rounds toward 0. So windows pass that exceed the
// dimension by less than two steps, and so does any dilation; both fail only at run time.
absl::StatusOr<int64_t> DilatedDim(int64_t in, int64_t size, int64_t dilation, int64_t stride,
                                   const WindowPadding& padding, int axis);

}  // namespace tenon::ops
