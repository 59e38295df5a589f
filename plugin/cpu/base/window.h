// Sliding windows of convolutions and poolings over images and volumes: attributes, checks, output
// sizes, and which places meet which.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "absl/container/inlined_vector.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "plugin/kernels/kernel.h"

namespace tenon::cpu {

// One spatial dimension. out = (before + in + after - extent + stride) / stride, cut off towards 0:
// none where the window is too large by less than two strides.
struct WindowAxis {
  int64_t in = 1, out = 1;
  int64_t size = 1, stride = 1, dilation = 1;
  int64_t before = 0, after = 0;  // padding; negative where the windows leave out the ends
  int64_t extent() const { return (size - 1) * dilation + 1; }
  // Places [begin, end) of the window at output `o` lie inside the input, the first at `first`.
  struct Inside {
    int64_t begin, end, first;
  };
  Inside InsideAt(int64_t o) const {
    const int64_t start = o * stride - before;
    const int64_t begin = start < 0 ? (dilation - 1 - start) / dilation : 0;
    const int64_t end = std::min(size, (in - start + dilation - 1) / dilation);
    return {begin, end, start + begin * dilation};
  }
  // How far the last window reaches beyond the input.
  int64_t surplus() const {
    const int64_t beyond = (out - 1) * stride + extent() - before - in;
    return beyond > 0 ? beyond : 0;
  }
};

// strides, dilations (where the op has them; Dilation2D calls them rates), padding,
// explicit_paddings and data_format of an op over 2 or 3 spatial dimensions.
struct WindowAttrs {
  int spatial_dims = 2;
  bool channels_first = false;
  Dims strides, dilations;  // of all dimensions, in the order of data_format
  std::string_view padding;
  // Where strides skip the input's ends, SAME skips as much before the first window as behind the
  // last. So TensorFlow's volumes do, but not their gradients; everywhere else the first window
  // begins at the first place.
  bool skips_evenly = false;
  Dims explicit_paddings;  // 2 values a dimension, or none
  int rank() const { return spatial_dims + 2; }
  int channel() const { return channels_first ? 1 : rank() - 1; }
  int spatial(int i) const { return (channels_first ? 2 : 1) + i; }
};

// INVALID_ARGUMENT for lists of the wrong length, strides or dilations below 1 or of batch and
// channels other than 1, negative paddings; UNIMPLEMENTED for a data format other than NHWC, NCHW,
// NDHWC and NCDHW. MaxPoolV2 passes its strides from an input.
absl::StatusOr<WindowAttrs> ReadWindowAttrs(const Prepare& p, int spatial_dims,
                                            const Dims* strides = nullptr);

// As many integers from attribute `name` as the op has dimensions.
absl::StatusOr<Dims> ReadPerDim(const Prepare& p, std::string_view name, int rank);

// Sizes and padding of spatial dimension i for a window of `size`. INVALID_ARGUMENT if the number
// of outputs would be negative.
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

// Windows that slide over the images or volumes of a batch; an image is one plane. Places of input,
// output and window are numbered plane by plane, row by row.
struct Windows {
  bool volume = false, channels_first = false;
  int64_t batch = 0, in_channels = 0, out_channels = 0;
  WindowAxis planes, rows, columns;

  int64_t in_places() const { return planes.in * rows.in * columns.in; }
  int64_t out_places() const { return planes.out * rows.out * columns.out; }
  int64_t window_places() const { return planes.size * rows.size * columns.size; }
  // The most places of a window that lie inside the input.
  int64_t covered_places() const {
    return std::min(planes.size, planes.in) * std::min(rows.size, rows.in) *
           std::min(columns.size, columns.in);
  }
  // Whether windows leave out the first places, which oneDNN cannot.
  bool starts_inside() const { return planes.before < 0 || rows.before < 0 || columns.before < 0; }
  // The outermost spatial dimension, by which work is split.
  const WindowAxis& outer() const { return volume ? planes : rows; }
  absl::InlinedVector<WindowAxis, 3> axes() const;  // the outermost first
  Dims InputDims() const { return DimsOf(in_channels, &WindowAxis::in); }
  Dims OutputDims() const { return DimsOf(out_channels, &WindowAxis::out); }

  // Element number of channel c at a place of image n, and the distance of its channels.
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

  // Calls f(input place, window place) for each place of the window at output place `out` that lies
  // inside the input.
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

  // Calls f(output place, window place) for each window that covers input place `in`.
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

  // Calls f(input place, output place) for each output whose window has `place` inside the input.
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
  // The output whose window has its place i at input `in`, or -1.
  static int64_t OutputOf(const WindowAxis& a, int64_t in, int64_t i) {
    const int64_t first = in + a.before - i * a.dilation;
    if (first < 0 || first % a.stride != 0 || first / a.stride >= a.out) return -1;
    return first / a.stride;
  }
  Dims DimsOf(int64_t channels, int64_t WindowAxis::*size) const;
};

// The windows of the sizes `window`, one per spatial dimension, over `input`; out_channels is that
// of the input. INVALID_ARGUMENT if the rank is wrong or a window does not fit.
absl::StatusOr<Windows> MakeWindows(const Prepare& p, const WindowAttrs& attrs, const Shape& input,
                                    absl::Span<const int64_t> window);

}  // namespace tenon::cpu
