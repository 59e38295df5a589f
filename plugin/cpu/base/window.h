// Sliding windows of convolutions and poolings over images and volumes: attributes, checks, output
// sizes, and the pairs of input place, window place and output place.
//
// A place is a position in the spatial dimensions, without batch and channel.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "absl/container/inlined_vector.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "graph/tensor/shape.h"

namespace tenon {
class Prepare;  // plugin/kernels/kernel.h
}

namespace tenon::cpu {

// One spatial dimension. All sizes count elements. VALID and EXPLICIT padding give
// out = (before + in + after - extent + stride) / stride, truncated towards 0. A window that
// exceeds the padded input by less than two strides therefore has no output instead of an error.
struct WindowAxis {
  int64_t in = 1, out = 1;
  int64_t size = 1, stride = 1, dilation = 1;
  int64_t before = 0, after = 0;  // padding; negative only by WindowAttrs::skips_evenly
  int64_t extent() const { return (size - 1) * dilation + 1; }
  // Window places [begin, end) lie inside the input; none if begin >= end. Window place `begin`
  // lies at input place `first`.
  struct Inside {
    int64_t begin, end, first;
  };
  // Returns the window places of output place `o` that lie inside the input.
  Inside InsideAt(int64_t o) const {
    const int64_t start = o * stride - before;
    const int64_t begin = start < 0 ? (dilation - 1 - start) / dilation : 0;
    const int64_t end = std::min(size, (in - start + dilation - 1) / dilation);
    return {begin, end, start + begin * dilation};
  }
  // Returns the number of places by which the last window reaches beyond the input's end; 0 if it
  // does not.
  int64_t surplus() const {
    const int64_t beyond = (out - 1) * stride + extent() - before - in;
    return beyond > 0 ? beyond : 0;
  }
};

// The window attributes of an op over 2 or 3 spatial dimensions: strides, dilations (Dilation2D
// calls them rates), padding, explicit_paddings and data_format.
struct WindowAttrs {
  int spatial_dims = 2;
  bool channels_first = false;
  Dims strides, dilations;   // of all dimensions, in the order of data_format
  std::string_view padding;  // SAME, VALID or EXPLICIT
  // With SAME padding, strides that exceed the window may skip places at the input's ends. If true,
  // half of the skipped places lie before the first window. If false, the first window begins at
  // the first place. TensorFlow's forward ops over volumes want true. Their gradients, and ops over
  // images, want false.
  bool skips_evenly = false;
  // If true, a window may have no places. TensorFlow's forward convolutions over images want true:
  // without oneDNN they do not look at the filter if there is nothing to compute.
  bool empty_windows = false;
  // Before and after of each dimension, in the order of data_format. Empty unless padding is
  // EXPLICIT.
  Dims explicit_paddings;
  int rank() const { return spatial_dims + 2; }
  // Dimension numbers of the channels and of spatial dimension i.
  int channel() const { return channels_first ? 1 : rank() - 1; }
  int spatial(int i) const { return (channels_first ? 2 : 1) + i; }
};

// Reads the attributes of the node. `strides`, one per dimension, replaces attribute strides if not
// null: MaxPoolV2 has its strides in an input. An op without attribute data_format has the channels
// last; one without dilations or rates, and Conv with an empty list, has dilations of 1. The
// result's `padding` refers to the node's text; skips_evenly is left false.
//
// INVALID_ARGUMENT for an unknown padding, a list of the wrong length, a dilation or explicit
// padding that is negative or above 2^30, a dilation of 0, a dilation of batch or channels that is
// not 1, an explicit padding of batch or channels that is not 0, or explicit paddings without
// padding EXPLICIT. UNIMPLEMENTED for a data format other than NHWC and NCHW (2 spatial
// dimensions), NDHWC and NCDHW (3), CHANNELS_FIRST and CHANNELS_LAST. MakeWindowAxis checks the
// strides.
absl::StatusOr<WindowAttrs> ReadWindowAttrs(const Prepare& p, int spatial_dims,
                                            const Dims* strides = nullptr);

// Returns the integers of attribute `name`. INVALID_ARGUMENT unless there are `rank` of them.
absl::StatusOr<Dims> ReadPerDim(const Prepare& p, std::string_view name, int rank);

// Returns sizes and padding of spatial dimension i, for `in` input places and a window of `size`
// places. INVALID_ARGUMENT if the stride or `size` is below 1 (with empty_windows `size` may be 0),
// one of stride, `size` and `in` exceeds 2^30, or the number of outputs is negative.
absl::StatusOr<WindowAxis> MakeWindowAxis(const Prepare& p, const WindowAttrs& attrs, int i,
                                          int64_t in, int64_t size);

// The piece of an axis that computes some of the outputs. The piece reads axis.in input places from
// place `start` on and has its own padding.
struct WindowPiece {
  int64_t start = 0;
  WindowAxis axis;
};
// Returns the piece for outputs [begin, begin + count), count >= 1. The piece for all outputs is
// the whole axis, even if no window reaches the last input places. Any other piece has only the
// input places between the start of its first window and the end of its last: perhaps none.
WindowPiece PieceOf(const WindowAxis& axis, int64_t begin, int64_t count);

// Windows that slide over the images or volumes of a batch. An image is a volume of one plane.
// Places of input, output and window are numbered plane by plane, row by row.
struct Windows {
  bool volume = false, channels_first = false;
  int64_t batch = 0, in_channels = 0, out_channels = 0;
  WindowAxis planes, rows, columns;

  int64_t in_places() const { return planes.in * rows.in * columns.in; }
  int64_t out_places() const { return planes.out * rows.out * columns.out; }
  int64_t window_places() const { return planes.size * rows.size * columns.size; }
  // Returns an upper bound of the places of one window that lie inside the input.
  int64_t covered_places() const {
    return std::min(planes.size, planes.in) * std::min(rows.size, rows.in) *
           std::min(columns.size, columns.in);
  }
  // Returns whether the first window begins behind the first input place. oneDNN has no such
  // convolution.
  bool starts_inside() const { return planes.before < 0 || rows.before < 0 || columns.before < 0; }
  // Returns the outermost spatial dimension. Kernels split their work along this dimension.
  const WindowAxis& outer() const { return volume ? planes : rows; }
  absl::InlinedVector<WindowAxis, 3> axes() const;  // the spatial dimensions, the outermost first
  // Dimensions of the whole input and output tensor, in the order of the data format.
  Dims InputDims() const { return DimsOf(in_channels, &WindowAxis::in); }
  Dims OutputDims() const { return DimsOf(out_channels, &WindowAxis::out); }

  // Element number of channel c at place `place` of image n in the whole tensor. input_step() and
  // output_step() are the distance, in elements, between two neighbouring channels of a place.
  int64_t InputAt(int64_t n, int64_t place, int64_t c = 0) const {
    return channels_first ? (n * in_channels + c) * in_places() + place
                          : (n * in_places() + place) * in_channels + c;
  }
  int64_t OutputAt(int64_t n, int64_t place, int64_t c = 0) const {
    return channels_first ? (n * out_channels + c) * out_places() + place
                          : (n * out_places() + place) * out_channels + c;
  }
  int64_t input_step() const { return channels_first ? in_places() : 1; }
  int64_t output_step() const { return channels_first ? out_places() : 1; }

  // Calls f(input place, window place) for the window of output place `out`, for each window place
  // inside the input, in ascending order.
  template <typename F>
  void ForEachInWindow(int64_t out, F f) const {
    const WindowAxis::Inside p = planes.InsideAt(out / columns.out / rows.out),
                             r = rows.InsideAt(out / columns.out % rows.out),
                             c = columns.InsideAt(out % columns.out);
    for (int64_t i = p.begin, plane = p.first; i < p.end; ++i, plane += planes.dilation) {
      for (int64_t j = r.begin, row = r.first; j < r.end; ++j, row += rows.dilation) {
        int64_t in = (plane * rows.in + row) * columns.in + c.first;
        for (int64_t k = c.begin; k < c.end; ++k, in += columns.dilation)
          f(in, (i * rows.size + j) * columns.size + k);
      }
    }
  }

  // Calls f(output place, window place) for each output place whose window has a window place at
  // input place `in`, in ascending order of the window places.
  template <typename F>
  void ForEachCovering(int64_t in, F f) const {
    const int64_t column = in % columns.in, row = in / columns.in % rows.in,
                  plane = in / columns.in / rows.in;
    for (int64_t i = 0; i < planes.size; ++i) {
      const int64_t p = OutputOf(planes, plane, i);
      if (p < 0) continue;
      for (int64_t j = 0; j < rows.size; ++j) {
        const int64_t r = OutputOf(rows, row, j);
        if (r < 0) continue;
        for (int64_t k = 0; k < columns.size; ++k) {
          const int64_t c = OutputOf(columns, column, k);
          if (c < 0) continue;
          f((p * rows.out + r) * columns.out + c, (i * rows.size + j) * columns.size + k);
        }
      }
    }
  }

  // Calls f(input place, output place) for each output place in whose window the window place
  // `place` lies inside the input, in ascending order.
  template <typename F>
  void ForEachAtWindowPlace(int64_t place, F f) const {
    const int64_t k = place % columns.size, j = place / columns.size % rows.size,
                  i = place / columns.size / rows.size;
    for (int64_t plane = 0; plane < planes.out; ++plane) {
      const int64_t p = plane * planes.stride - planes.before + i * planes.dilation;
      if (p < 0 || p >= planes.in) continue;
      for (int64_t row = 0; row < rows.out; ++row) {
        const int64_t r = row * rows.stride - rows.before + j * rows.dilation;
        if (r < 0 || r >= rows.in) continue;
        for (int64_t column = 0; column < columns.out; ++column) {
          const int64_t c = column * columns.stride - columns.before + k * columns.dilation;
          if (c < 0 || c >= columns.in) continue;
          f((p * rows.in + r) * columns.in + c, (plane * rows.out + row) * columns.out + column);
        }
      }
    }
  }

 private:
  // Returns the output place at which window place i lies at input place `in`, or -1.
  static int64_t OutputOf(const WindowAxis& a, int64_t in, int64_t i) {
    const int64_t first = in + a.before - i * a.dilation;
    if (first < 0 || first % a.stride != 0 || first / a.stride >= a.out) return -1;
    return first / a.stride;
  }
  Dims DimsOf(int64_t channels, int64_t WindowAxis::*size) const;
};

// Returns the windows over a tensor of shape `input`. `window` has one size per spatial dimension,
// the outermost first. out_channels becomes in_channels; a convolution sets its own.
// INVALID_ARGUMENT if the input's rank is not attrs.rank(), for the errors of MakeWindowAxis, or if
// input, output or window has more than 2^48 places.
absl::StatusOr<Windows> MakeWindows(const Prepare& p, const WindowAttrs& attrs, const Shape& input,
                                    absl::Span<const int64_t> window);

}  // namespace tenon::cpu
