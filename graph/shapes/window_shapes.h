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

// Returns the format that attribute data_format names, with `spatial` spatial dimensions, whatever
// number the name has; channels last if the op has no such attribute. UNIMPLEMENTED for other
// formats, such as NCHW_VECT_C.
absl::StatusOr<WindowFormat> WindowFormatOf(InferenceContext& c, int spatial);

// The padding of each dimension, from attributes padding and explicit_paddings.
struct WindowPadding {
  bool same = false;
  std::vector<int64_t> explicit_pads;  // before and after, per dimension in the format's order;
                                       // empty unless EXPLICIT
};
// Reads both attributes for tensors of rank `rank`. INVALID_ARGUMENT for negative paddings, for too
// few or too many, and for any beside SAME or VALID. A name other than SAME and EXPLICIT counts as
// VALID.
absl::StatusOr<WindowPadding> WindowPaddingOf(InferenceContext& c, int rank);

// Returns the number of positions of a window that moves by `stride` along a dimension of `in`
// elements; kUnknownDim where `in` or, without SAME, `size` is unknown. The window has `size`
// elements, which lie `dilation` apart. `axis` is the number of the dimension in the tensor; it
// chooses among the explicit paddings. INVALID_ARGUMENT where the window does not fit, or stride or
// dilation is not positive, for a window of no elements with a dilation above 1, and for sizes that
// exceed int64. With SAME every other window fits: `size` does not matter.
absl::StatusOr<int64_t> WindowedDim(int64_t in, int64_t size, int64_t dilation, int64_t stride,
                                    const WindowPadding& padding, int axis);
// WindowedDim for ops whose shape function in TensorFlow rounds toward 0. TensorFlow's function
// then accepts a window that exceeds the dimension by less than two strides, and any dilation; only
// a run fails. So these errors are marked AtRunTime. `padding` must have no explicit_pads.
absl::StatusOr<int64_t> DilatedDim(int64_t in, int64_t size, int64_t dilation, int64_t stride,
                                   const WindowPadding& padding, int axis);

}  // namespace tenon::ops
