// Convolutions and their gradients.
#include "absl/strings/str_cat.h"
#include "executor/stablehlo/rows.h"
#include "executor/stablehlo/shared.h"
#include "executor/stablehlo/windows.h"
#include "graph/base/status_macros.h"

namespace tenon::stablehlo {
namespace convolution_ops {
namespace {

// A convolution: images and filter of these shapes, where a depthwise filter counts as one of
// shape [..., 1, channels * multiplier].
struct Problem {
  SpatialWindows windows;
  Shape images, filter;
  int64_t groups = 1;
  int spatial() const { return windows.format.spatial; }
  int64_t size(int i) const { return images.dim(windows.format.first() + i); }
  int64_t filter_size(int i) const { return filter.dim(i); }
  int64_t in_channels() const { return images.dim(windows.format.channels()); }
  int64_t out_channels() const { return filter.dim(filter.rank() - 1); }
  int64_t reach(int i) const { return (filter_size(i) - 1) * windows.dilation[i] + 1; }
};

Shape AsGrouped(const Shape& filter, bool depthwise) {
  if (!depthwise) return filter;
  const int n = filter.rank();
  Shape shape = filter;
  shape.set_dim(n - 2, 1);
  shape.set_dim(n - 1, filter.dim(n - 2) * filter.dim(n - 1));
  return shape;
}

absl::StatusOr<Problem> Read(Op& op, const Shape& images, const Shape& filter, bool depthwise) {
  Problem p;
  p.images = images;
  p.filter = AsGrouped(filter, depthwise);
  const int spatial = filter.rank() - 2;
  Ints sizes;
  for (int i = 0; i < spatial; ++i) sizes.push_back(filter.dim(i));
  TENON_ASSIGN_OR_RETURN(p.windows, ReadWindows(op, spatial, images, sizes));
  const int64_t per_group = p.filter.dim(spatial);
  if (p.filter.num_elements() == 0) return op.Unimplemented("a filter without elements");
  if (depthwise && spatial == 2 && p.windows.stride[0] != p.windows.stride[1])
    return op.Invalid("strides must be equal in rows and columns");
  if (per_group == 0 || p.in_channels() % per_group != 0 || p.in_channels() == 0)
    return op.Invalid("the channels of input and filter do not fit");
  p.groups = p.in_channels() / per_group;
  return p;
}

// "[b, 0, 1, f]" for channels last, with other letters for batch and channels where wanted.
std::string Layout(const Problem& p, char batch, char channels) {
  const ops::WindowFormat& f = p.windows.format;
  std::string out = "[";
  for (int i = 0; i < f.rank(); ++i) {
    if (i > 0) out.append(", ");
    if (i == 0) {
      out.push_back(batch);
    } else if (i == f.channels()) {
      out.push_back(channels);
    } else {
      absl::StrAppend(&out, i - f.first());
    }
  }
  out.push_back(']');
  return out;
}

// "[0, 1, i, o]"
std::string FilterLayout(int spatial, char first, char second) {
  std::string out = "[";
  for (int i = 0; i < spatial; ++i) absl::StrAppend(&out, i, ", ");
  out.push_back(first);
  out.append(", ");
  out.push_back(second);
  out.push_back(']');
  return out;
}

Ints Ones(int n) { return Ints(n, 1); }

absl::Status Finish(Op& op, const Value& v) { return op.Out(op.b.Convert(v, op.OutType(0))); }

absl::StatusOr<Value> Convolved(Op& op, bool depthwise) {
  TENON_ASSIGN_OR_RETURN(const Shape shape, op.OutShape());
  TENON_ASSIGN_OR_RETURN(const Problem p, Read(op, op.InShape(0), op.InShape(1), depthwise));
  const SpatialWindows& w = p.windows;
  if (shape.num_elements() == 0) return op.b.Wide(op.b.Full(op.OutType(0), shape, 0));
  const ConvDims dims = {
      .text = absl::StrCat(Layout(p, 'b', 'f'), "x", FilterLayout(p.spatial(), 'i', 'o'), "->",
                           Layout(p, 'b', 'f')),
      .stride = w.stride,
      .low = w.low,
      .high = w.high,
      .lhs_dilation = Ones(p.spatial()),
      .rhs_dilation = w.dilation,
      .feature_groups = p.groups};
  const Value x = op.b.Wide(op.In(0));
  const Value filter = op.b.Wide(op.b.Reshape(op.In(1), p.filter));
  return op.b.Conv(x, filter, dims, shape);
}

template <bool kDepthwise>
absl::Status Forward(Op& op) {
  TENON_ASSIGN_OR_RETURN(const Value v, Convolved(op, kDepthwise));
  return Finish(op, v);
}

// The filter with its channels exchanged within groups, [..., in, out / groups].
Value Exchanged(Op& op, const Problem& p, const Value& filter) {
  if (p.groups == 1) return filter;
  const int n = p.spatial();
  Shape split, joined;
  Ints perm;
  for (int i = 0; i < n; ++i) {
    split.push_back(p.filter.dim(i));
    joined.push_back(p.filter.dim(i));
    perm.push_back(i);
  }
  split.push_back(p.filter.dim(n));
  split.push_back(p.groups);
  split.push_back(p.out_channels() / p.groups);
  joined.push_back(p.in_channels());
  joined.push_back(p.out_channels() / p.groups);
  perm.insert(perm.end(), {n + 1, n, n + 2});
  return op.b.Reshape(op.b.Transpose(op.b.Reshape(filter, split), perm), joined);
}

// Whether `dy` has the shape of what the convolution gives.
absl::Status CheckGradient(Op& op, const Problem& p, const Shape& dy) {
  const SpatialWindows& w = p.windows;
  bool fits = dy.rank() == p.images.rank() && dy.dim(0) == p.images.dim(0) &&
              dy.dim(w.format.channels()) == p.out_channels();
  for (int i = 0; fits && i < p.spatial(); ++i) {
    const int64_t room = p.size(i) + w.low[i] + w.high[i] - p.reach(i);
    fits = dy.dim(w.format.first() + i) == (room < 0 ? 0 : room / w.stride[i] + 1);
  }
  if (fits) return absl::OkStatus();
  return op.Invalid("the gradient does not fit the windows");
}

// The gradient of the images: a convolution of the gradient, spread by the strides, with the
// reversed filter. `filter` and `dy` are inputs.
absl::Status ImagesGradient(Op& op, const Shape& images, int filter_input, int dy_input,
                            bool depthwise) {
  TENON_ASSIGN_OR_RETURN(const Problem p, Read(op, images, op.InShape(filter_input), depthwise));
  const SpatialWindows& w = p.windows;
  const Value dy = op.b.Wide(op.In(dy_input));
  TENON_RETURN_IF_ERROR(CheckGradient(op, p, dy.shape));
  if (images.num_elements() == 0 || dy.shape.num_elements() == 0)
    return op.Out(op.b.Full(op.OutType(0), images, 0));
  Ints low, high, spatial_dims;
  for (int i = 0; i < p.spatial(); ++i) {
    const int64_t out = dy.shape.dim(w.format.first() + i);
    const int64_t spread = (out - 1) * w.stride[i] + 1;
    low.push_back(p.reach(i) - 1 - w.low[i]);
    high.push_back(p.size(i) - spread - low.back() + p.reach(i) - 1);
    spatial_dims.push_back(i);
  }
  const ConvDims dims = {
      .text = absl::StrCat(Layout(p, 'b', 'f'), "x", FilterLayout(p.spatial(), 'o', 'i'), "->",
                           Layout(p, 'b', 'f')),
      .stride = Ones(p.spatial()),
      .low = low,
      .high = high,
      .lhs_dilation = w.stride,
      .rhs_dilation = w.dilation,
      .feature_groups = p.groups};
  const Value filter = op.b.Wide(op.b.Reshape(op.In(filter_input), p.filter));
  const Value turned = op.b.Reverse(Exchanged(op, p, filter), spatial_dims);
  return Finish(op, op.b.Conv(dy, turned, dims, images));
}

// The gradient of the filter: a convolution of the images with the gradient, where channels take
// the place of the batch.
absl::Status FilterGradient(Op& op, const Shape& filter, int images_input, int dy_input,
                            bool depthwise) {
  TENON_ASSIGN_OR_RETURN(const Problem p, Read(op, op.InShape(images_input), filter, depthwise));
  const SpatialWindows& w = p.windows;
  const Value x = op.b.Wide(op.In(images_input)), dy = op.b.Wide(op.In(dy_input));
  TENON_RETURN_IF_ERROR(CheckGradient(op, p, dy.shape));
  if (x.shape.num_elements() == 0 || dy.shape.num_elements() == 0)
    return op.Out(op.b.Full(op.OutType(0), filter, 0));
  Ints high;
  for (int i = 0; i < p.spatial(); ++i) {
    const int64_t out = dy.shape.dim(w.format.first() + i);
    const int64_t spread = (out - 1) * w.stride[i] + 1;
    high.push_back(p.reach(i) - 1 + spread - p.size(i) - w.low[i]);
  }
  const ConvDims dims = {.text = absl::StrCat(Layout(p, 'f', 'b'), "x", Layout(p, 'i', 'o'), "->",
                                              FilterLayout(p.spatial(), 'b', 'f')),
                         .batch = w.format.channels(),
                         .result_batch = p.spatial(),
                         .stride = w.dilation,
                         .low = w.low,
                         .high = high,
                         .lhs_dilation = Ones(p.spatial()),
                         .rhs_dilation = w.stride,
                         .batch_groups = p.groups};
  const Value grad = op.b.Conv(x, dy, dims, p.filter);
  return Finish(op, op.b.Reshape(grad, filter));
}

// The sizes of the images or of the filter are an input.
template <bool kDepthwise>
absl::Status BackpropInput(Op& op) {
  TENON_ASSIGN_OR_RETURN(const Shape shape, op.OutShape());
  return ImagesGradient(op, shape, 1, 2, kDepthwise);
}

template <bool kDepthwise>
absl::Status BackpropFilter(Op& op) {
  TENON_ASSIGN_OR_RETURN(const Shape shape, op.OutShape());
  return FilterGradient(op, shape, 0, 2, kDepthwise);
}

constexpr Row kRows[] = {
    {"Conv2D", Forward<false>, kReals},
    {"Conv3D", Forward<false>, kFloats},
    {"DepthwiseConv2dNative", Forward<true>, kFloats},
    {"Conv2DBackpropInput", BackpropInput<false>, kReals, In(0)},
    {"Conv3DBackpropInputV2", BackpropInput<false>, kFloats, In(0)},
    {"Conv3DBackpropInput", BackpropInput<false>, kFloats, 0},
    {"DepthwiseConv2dNativeBackpropInput", BackpropInput<true>, kFloats, In(0)},
    {"Conv2DBackpropFilter", BackpropFilter<false>, kFloats, In(1)},
    {"Conv3DBackpropFilterV2", BackpropFilter<false>, kFloats, In(1)},
    {"Conv3DBackpropFilter", BackpropFilter<false>, kFloats, 0},
    {"DepthwiseConv2dNativeBackpropFilter", BackpropFilter<true>, kFloats, In(1)},
};

}  // namespace
}  // namespace convolution_ops

absl::StatusOr<Value> Convolve(Op& op, bool depthwise) {
  return convolution_ops::Convolved(op, depthwise);
}

Rows ConvolutionRows() { return convolution_ops::kRows; }

}  // namespace tenon::stablehlo
