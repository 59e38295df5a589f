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

// Returns the format that attribute data_format names; channels last if the op has no such
// attribute. UNIMPLEMENTED for other formats, such as NCHW_VECT_C.
absl::StatusOr<WindowFormat> WindowFormatOf(InferenceContext& c, int spatial);

// The padding of each dimension, from attributes padding and explicit_paddings.
struct WindowPadding {
  bool same = false;
  std::vector<int64_t> explicit_pads;  // before and after, per dimension in the format's order;
                                       // empty unless EXPLICIT
};
// Reads both attributes for tensors of rank `rank`. INVALID_ARGUMENT for negative paddings, for too
// few or too many, and for any beside SAME or VALID.
absl::StatusOr<WindowPadding> WindowPaddingOf(InferenceContext& c, int rank);

// Returns the number of positions of a window of `size` elements that lie `dilation` apart and that
// moves by `stride` along dimension `axis` of `in` elements; kUnknownDim where a size is unknown.
// INVALID_ARGUMENT where the window does not fit, or stride or dilation is not positive.
absl::StatusOr<int64_t> WindowedDim(int64_t in, int64_t size, int64_t dilation, int64_t stride,
                                    const WindowPadding& padding, int axis);
// WindowedDim for ops with a TensorFlow version that rounds toward 0. So windows pass that exceed
// the dimension by less than two strides, and so does any dilation; both fail only in a run
// (AtRunTime).
absl::StatusOr<int64_t> DilatedDim(int64_t in, int64_t size, int64_t dilation, int64_t stride,
                                   const WindowPadding& padding, int axis);

}  // namespace tenon::ops
