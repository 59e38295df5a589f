// The arithmetic of convolution and pooling windows.
#pragma once

#include "graph/shapes/common_shapes.h"

namespace tenon::ops {

// Where batch, channels and the spatial dimensions lie in a format such as NHWC, NCHW, NDHWC or
// NCDHW.
struct WindowFormat {
  int spatial = 2;  // how many
  bool channels_first = false;
  int rank() const { return spatial + 2; }
  int channels() const { return channels_first ? 1 : rank() - 1; }
  int first() const { return channels_first ? 2 : 1; }  // the first spatial dimension
};

// From attr data_format, if the op has it. UNIMPLEMENTED for vectorised formats (NCHW_VECT_C).
absl::StatusOr<WindowFormat> WindowFormatOf(InferenceContext& c, int spatial);

// Padding of each dimension: from attrs padding and explicit_paddings.
struct WindowPadding {
  bool same = false;
  std::vector<int64_t> explicit_pads;  // before and after, per dimension in the format's order;
                                       // empty unless EXPLICIT
};
absl::StatusOr<WindowPadding> WindowPaddingOf(InferenceContext& c, int rank);

// Positions of a window of `size`, moved by `stride`, along dimension `axis` of `in` elements.
// Unknown sizes are legal.
absl::StatusOr<int64_t> WindowedDim(int64_t in, int64_t size, int64_t dilation, int64_t stride,
                                    const WindowPadding& padding, int axis);
// The same where TensorFlow rounds toward 0, and so lets windows pass that exceed the dimension by
// less than two steps, and any dilation: these fail only at run time.
absl::StatusOr<int64_t> DilatedDim(int64_t in, int64_t size, int64_t dilation, int64_t stride,
                                   const WindowPadding& padding, int axis);

}  // namespace tenon::ops
