// Convolution and pooling.
#include "graph/shapes/window_shapes.h"

#include "graph/shapes/shapes.h"

namespace tenon::ops {

absl::StatusOr<WindowFormat> WindowFormatOf(InferenceContext& c, int spatial) {
  WindowFormat format{spatial, false};
  if (!c.HasAttr("data_format")) return format;
  TENON_ASSIGN_OR_RETURN(const std::string_view name, c.AttrString("data_format"));
  if (name == "NHWC" || name == "NDHWC" || name == "CHANNELS_LAST") return format;
  format.channels_first = true;
  if (name == "NCHW" || name == "NCDHW" || name == "CHANNELS_FIRST") return format;
  return absl::UnimplementedError(absl::StrCat("data_format ", name, " is not implemented"));
}

absl::StatusOr<WindowPadding> WindowPaddingOf(InferenceContext& c, int rank) {
  WindowPadding padding;
  TENON_ASSIGN_OR_RETURN(const std::string_view name, c.AttrString("padding"));
  padding.same = name == "SAME";
  if (c.HasAttr("explicit_paddings")) {
    TENON_ASSIGN_OR_RETURN(padding.explicit_pads, c.AttrIntList("explicit_paddings"));
  }
  const size_t wanted = name == "EXPLICIT" ? 2 * rank : 0;
  if (const size_t given = padding.explicit_pads.size(); given != wanted) {
    return wanted == 0
               ? Invalid(
                     "explicit_paddings attribute must be empty if the padding attribute is "
                     "not EXPLICIT")
               : Invalid("explicit_paddings attribute must contain ", wanted,
                         " values, but got: ", given);
  }
  for (int64_t p : padding.explicit_pads) {
    if (p < 0)
      return absl::InvalidArgumentError("All elements of explicit_paddings must be nonnegative");
  }
  return padding;
}

absl::StatusOr<int64_t> WindowedDim(int64_t in, int64_t size, int64_t dilation, int64_t stride,
                                    const WindowPadding& padding, int axis) {
  if (stride <= 0)
    return absl::InvalidArgumentError(absl::StrCat("Stride must be > 0, but got ", stride));
  if (dilation <= 0)
    return absl::InvalidArgumentError(
        absl::StrCat("Dilation rate must be >= 1, but got ", dilation));
  // TensorFlow has no span for a dilated window of none.
  if (dilation > 1 && size >= 0) TENON_RETURN_IF_ERROR(SubtractDims(size, 1).status());
  if (in < 0) return kUnknownDim;
  // SAME covers each element, so the size of the window does not matter.
  if (padding.same) return in / stride + (in % stride != 0);
  if (size < 0) return kUnknownDim;
  if (!padding.explicit_pads.empty()) {
    TENON_ASSIGN_OR_RETURN(in, AddDims(in, padding.explicit_pads[2 * axis]));
    TENON_ASSIGN_OR_RETURN(in, AddDims(in, padding.explicit_pads[2 * axis + 1]));
  }
  // A window of n elements spans (n - 1) * dilation + 1, of none nothing.
  TENON_ASSIGN_OR_RETURN(const int64_t spread,
                         MultiplyDims(std::max<int64_t>(size - 1, 0), dilation));
  TENON_ASSIGN_OR_RETURN(const int64_t span, AddDims(spread, std::min<int64_t>(size, 1)));
  TENON_ASSIGN_OR_RETURN(const int64_t free, SubtractDims(in, span));
  return free / stride + 1;
}

absl::StatusOr<int64_t> DilatedDim(int64_t in, int64_t size, int64_t dilation, int64_t stride,
                                   const WindowPadding& padding, int axis) {
  absl::StatusOr<int64_t> d = WindowedDim(in, size, dilation, stride, padding, axis);
  if (d.ok() || stride <= 0) return d;
  if (dilation <= 0) return AtRunTime(d);
  int64_t window;
  const bool overflows = __builtin_mul_overflow(std::max<int64_t>(size - 1, 0), dilation, &window);
  // TensorFlow computes (in - window + stride) / stride in integers, which round toward 0: the
  // result is negative only if the window exceeds the dimension by two strides or more.
  if (overflows || window == std::numeric_limits<int64_t>::max()) return d;
  if ((window - in + 1) / 2 < stride) return AtRunTime(d);
  ++window;
  return Invalid("Computed output size would be negative: ", (in - window + stride) / stride,
                 " [input_size: ", in, ", effective_filter_size: ", window, ", stride: ", stride,
                 "]");
}

namespace {

// TensorFlow's words for a list attribute that has not one value per dimension.
absl::Status CountError(InferenceContext& c, std::string_view name, int rank, size_t values) {
  const std::string& op = c.op().name;
  std::string_view who = op, what = name == "strides" ? "stride" : name, requires_ = " requires";
  if (op == "Conv2D" || op == "_FusedConv2D") {
    who = name == "strides" ? "Conv2D on data format " : "Conv2D";
  } else if (op.starts_with("DepthwiseConv2d")) {
    who = "DepthwiseConv2D";
  } else if (op == "AvgPool3D" || op == "MaxPool3D") {
    who = "Pool3D";
    if (name == "strides") requires_ = " ops require";
  } else if (op.starts_with("MaxPool")) {
    who = "MaxPool";
  } else if (op == "FusedPadConv2D" || op == "FusedResizeAndPadConv2D") {
    who = "Operation";
  }
  const bool convolves = who.starts_with("Conv");
  if (convolves && name == "dilations") what = "dilation";
  const bool with_format = who.ends_with(" ");
  return Invalid(who, with_format ? c.AttrString("data_format").value_or("") : "", requires_,
                 " the ", what, " attribute to contain ", rank, " values, but got: ", values);
}

// A list attribute with one value per dimension.
absl::StatusOr<std::vector<int64_t>> PerDim(InferenceContext& c, std::string_view name, int rank) {
  if (!c.HasAttr(name)) return std::vector<int64_t>(rank, 1);
  TENON_ASSIGN_OR_RETURN(std::vector<int64_t> values, c.AttrIntList(name));
  if (values.empty() && name == "dilations" && c.HasAttr("batch_dims"))
    return std::vector<int64_t>(rank, 1);  // Conv may leave them out
  for (const int64_t value : values) {
    if (value == static_cast<int32_t>(value)) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("attr '", name, "' has value ", value, ", out of range for an int32"));
  }
  if (static_cast<int>(values.size()) == rank) return values;
  return CountError(c, name, rank, values.size());
}

// Input depth must be a multiple of the filter's (groups), and so must the output's of the number
// of groups.
absl::Status CheckGroups(int64_t depth, int64_t filter_depth, int64_t out_depth) {
  if (depth < 0 || filter_depth < 0) return absl::OkStatus();
  if (filter_depth == 0) return absl::InvalidArgumentError("Depth of filter must not be 0");
  if (depth % filter_depth != 0) {
    return absl::InvalidArgumentError(absl::StrCat("Depth of input (", depth,
                                                   ") is not a multiple of input depth of filter (",
                                                   filter_depth, ")"));
  }
  const int64_t groups = depth / filter_depth;
  if (groups < 1) return absl::InvalidArgumentError("Number of groups must not be 0");
  if (out_depth >= 0 && out_depth % groups != 0) {
    return absl::InvalidArgumentError(absl::StrCat("Depth of output (", out_depth,
                                                   ") is not a multiple of the number of groups (",
                                                   groups, ")"));
  }
  return absl::OkStatus();
}

// Input, filter [spatial..., input depth, output depth] -> the output. Depthwise filters have
// [spatial..., input depth, multiplier].
absl::Status Convolve(InferenceContext& c, const PartialShape& input, int spatial, bool depthwise) {
  TENON_ASSIGN_OR_RETURN(const WindowFormat f, WindowFormatOf(c, spatial));
  TENON_ASSIGN_OR_RETURN(const PartialShape in, c.WithRank(input, f.rank()));
  TENON_ASSIGN_OR_RETURN(const PartialShape filter, c.WithRank(c.input(1), f.rank()));
  TENON_ASSIGN_OR_RETURN(const std::vector<int64_t> dilations, PerDim(c, "dilations", f.rank()));
  TENON_ASSIGN_OR_RETURN(const std::vector<int64_t> strides, PerDim(c, "strides", f.rank()));
  PartialShape out = PartialShape::UnknownOfRank(f.rank());
  out.set_dim(0, in.dim(0));
  int64_t depth = filter.dim(spatial + 1);
  if (depthwise) {
    TENON_ASSIGN_OR_RETURN(const int64_t in_depth,
                           c.MergeDim(in.dim(f.channels()), filter.dim(spatial)));
    TENON_ASSIGN_OR_RETURN(depth, MultiplyDims(in_depth, depth));
  } else {
    TENON_RETURN_IF_ERROR(CheckGroups(in.dim(f.channels()), filter.dim(spatial), depth));
  }
  out.set_dim(f.channels(), depth);
  TENON_ASSIGN_OR_RETURN(const WindowPadding padding, WindowPaddingOf(c, f.rank()));
  for (const int at : {0, f.channels()}) {
    if (padding.explicit_pads.empty()) break;
    if (padding.explicit_pads[2 * at] != 0 || padding.explicit_pads[2 * at + 1] != 0)
      return Invalid("Nonzero explicit padding in the batch or depth dimensions is not supported");
  }
  for (int i = 0; i < spatial; ++i) {
    const int at = f.first() + i;
    TENON_ASSIGN_OR_RETURN(const int64_t d, WindowedDim(in.dim(at), filter.dim(i), dilations[at],
                                                        strides[at], padding, at));
    out.set_dim(at, d);
  }
  c.set_output(0, std::move(out));
  return absl::OkStatus();
}

// The gradient with respect to what input `sizes` is the shape of.
absl::Status FromSizes(InferenceContext& c, int sizes, int rank) {
  TENON_ASSIGN_OR_RETURN(const PartialShape asked, c.input_as_shape(sizes));
  TENON_ASSIGN_OR_RETURN(PartialShape out, c.WithRank(asked, rank));
  c.set_output(0, std::move(out));
  return absl::OkStatus();
}

// Input 0 is the shape of the convolution's input, or its spatial sizes alone; batch and depth
// follow from the others.
absl::Status BackpropInput(InferenceContext& c, int spatial) {
  TENON_ASSIGN_OR_RETURN(const WindowFormat f, WindowFormatOf(c, spatial));
  TENON_ASSIGN_OR_RETURN(const PartialShape asked, c.input_as_shape(0));
  TENON_ASSIGN_OR_RETURN(const PartialShape filter, c.WithRank(c.input(1), f.rank()));
  TENON_ASSIGN_OR_RETURN(const PartialShape grad, c.WithRank(c.input(2), f.rank()));
  TENON_RETURN_IF_ERROR(c.MergeDim(grad.dim(f.channels()), filter.dim(spatial + 1)).status());
  if (asked.known_rank() && asked.rank() != spatial && asked.rank() != f.rank()) {
    return Invalid("Conv2DBackpropInput requires input_sizes to contain ", f.rank(), " values or ",
                   spatial, " values, but got: ", asked.rank());
  }
  PartialShape out = PartialShape::UnknownOfRank(f.rank());
  if (asked.rank() == spatial) {
    out.set_dim(f.channels(), filter.dim(spatial));
    for (int i = 0; i < spatial; ++i) out.set_dim(f.first() + i, asked.dim(i));
  } else {
    TENON_ASSIGN_OR_RETURN(out, c.WithRank(asked, f.rank()));
  }
  TENON_ASSIGN_OR_RETURN(const int64_t batch, c.MergeDim(out.dim(0), grad.dim(0)));
  out.set_dim(0, batch);
  c.set_output(0, std::move(out));
  return absl::OkStatus();
}

// Windows over all dimensions but the batch, and over the channels only where their window is not
// 1.
absl::Status Pool(InferenceContext& c, int spatial, const std::vector<int64_t>& ksize,
                  const std::vector<int64_t>& strides) {
  TENON_ASSIGN_OR_RETURN(const WindowFormat f, WindowFormatOf(c, spatial));
  TENON_ASSIGN_OR_RETURN(const WindowPadding padding, WindowPaddingOf(c, f.rank()));
  TENON_ASSIGN_OR_RETURN(const PartialShape in, c.WithRank(c.input(0), f.rank()));
  PartialShape out = in;
  const bool averages = c.op().name.find("AvgPool") != std::string::npos;
  absl::Status refused;
  for (int i = 0; i < f.rank(); ++i) {
    const bool never_pools = i == f.channels() && (spatial == 3 || averages);
    // Kernels take a stride over channels of 1 for none; only the gradient of the gradient refuses
    // a shape that the stride would make smaller.
    const bool one = i == f.channels() && ksize[i] == 1;
    if (i == 0 || (one && (strides[i] == 1 || c.op().name != "MaxPoolGradGrad"))) continue;
    // What does not pool over channels says so when it runs.
    if (never_pools) {
      refused = absl::InvalidArgumentError("pooling over channels");
      continue;
    }
    if (strides[i] <= 0) return Invalid("Stride must be > 0, but got ", strides[i]);
    if (ksize[i] <= 0) {
      refused = absl::InvalidArgumentError(absl::StrCat("ksize must be > 0 but is ", ksize[i]));
      continue;
    }
    TENON_ASSIGN_OR_RETURN(const int64_t d,
                           WindowedDim(in.dim(i), ksize[i], 1, strides[i], padding, i));
    out.set_dim(i, d);
  }
  for (int i = 0; i < c.num_outputs(); ++i) c.set_output(i, out);
  return AtRunTime(refused);
}

absl::Status PoolByAttrs(InferenceContext& c, int spatial) {
  TENON_RETURN_IF_ERROR(c.WithRank(c.input(0), spatial + 2).status());
  TENON_ASSIGN_OR_RETURN(const std::vector<int64_t> ksize, PerDim(c, "ksize", spatial + 2));
  TENON_ASSIGN_OR_RETURN(const std::vector<int64_t> strides, PerDim(c, "strides", spatial + 2));
  for (const int64_t size : ksize) {
    if (c.op().name == "MaxPoolWithArgmax" && size <= 0)
      return Invalid("ksize must be a positive int32 value, got:", size);
  }
  return Pool(c, spatial, ksize, strides);
}

// Output 0 has the shape of input `i`, of which the rank is known.
absl::Status LikeInput(InferenceContext& c, int i, int rank) {
  TENON_ASSIGN_OR_RETURN(PartialShape out, c.WithRank(c.input(i), rank));
  c.set_output(0, std::move(out));
  return absl::OkStatus();
}

}  // namespace

// Over 2 or 3 spatial dimensions, whichever the ranks leave; `batch_dims` come before them.
absl::Status ConvShape(InferenceContext& c) {
  TENON_ASSIGN_OR_RETURN(const int64_t batch_dims, c.AttrInt("batch_dims"));
  TENON_ASSIGN_OR_RETURN(const int64_t groups, c.AttrInt("groups"));
  TENON_ASSIGN_OR_RETURN(const std::string_view padding, c.AttrString("padding"));
  const PartialShape &in = c.input(0), &filter = c.input(1);
  const bool known = in.known_rank() && filter.known_rank();
  if (batch_dims < 0 || groups < 1) {
    absl::Status status =
        absl::InvalidArgumentError("batch_dims must not be negative, groups must be positive");
    return known ? status : AtRunTime(std::move(status));
  }
  if (!known) return absl::OkStatus();
  const int64_t spatial = in.rank() - batch_dims - 1;
  if (spatial != 2 && spatial != 3) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the input must have 2 or 3 spatial dimensions, ", in.ToString(), " has ", spatial));
  }
  if (spatial == 3 && padding == "EXPLICIT")
    return absl::InvalidArgumentError("padding EXPLICIT is for 2 spatial dimensions only");
  const int b = static_cast<int>(batch_dims);
  const PartialShape flat = Concatenate(Vector(kUnknownDim), Subshape(in, b));
  TENON_RETURN_IF_ERROR(Convolve(c, flat, static_cast<int>(spatial), /*depthwise=*/false));
  TENON_ASSIGN_OR_RETURN(const WindowFormat f, WindowFormatOf(c, static_cast<int>(spatial)));
  const int64_t depth = flat.dim(f.channels()), filter_depth = filter.dim(f.spatial);
  if (depth > 0 && filter_depth > 0 && depth / filter_depth != groups) {
    return absl::InvalidArgumentError(absl::StrCat("depth of input (", depth, ") and of filter (",
                                                   filter_depth, ") do not make ", groups,
                                                   " groups"));
  }
  c.set_output(0, Concatenate(Subshape(in, 0, b), Subshape(c.output(0).shape, 1)));
  return absl::OkStatus();
}

absl::Status Conv2DShape(InferenceContext& c) {
  return Convolve(c, c.input(0), 2, /*depthwise=*/false);
}
absl::Status Conv3DShape(InferenceContext& c) {
  return Convolve(c, c.input(0), 3, /*depthwise=*/false);
}
absl::Status DepthwiseConv2DShape(InferenceContext& c) {
  return Convolve(c, c.input(0), 2, /*depthwise=*/true);
}

absl::Status Conv2DBackpropInputShape(InferenceContext& c) { return BackpropInput(c, 2); }
absl::Status Conv3DBackpropInputShape(InferenceContext& c) { return FromSizes(c, 0, 5); }
absl::Status DepthwiseBackpropInputShape(InferenceContext& c) { return FromSizes(c, 0, 4); }
absl::Status Conv2DBackpropFilterShape(InferenceContext& c) { return FromSizes(c, 1, 4); }
absl::Status Conv3DBackpropFilterShape(InferenceContext& c) { return FromSizes(c, 1, 5); }

absl::Status Pool2DShape(InferenceContext& c) { return PoolByAttrs(c, 2); }
absl::Status Pool3DShape(InferenceContext& c) { return PoolByAttrs(c, 3); }

namespace {

// The gradient's gradient is like the input, and the result like what was pooled.
absl::Status CheckPoolGradGrad(InferenceContext& c) {
  TENON_RETURN_IF_ERROR(MergeShapes(c.input(0), c.input(2)).status());
  return MergeShapes(c.input(1), c.output(0).shape).status();
}

// ksize and strides are inputs `sizes` and the next.
absl::Status PoolByInputs(InferenceContext& c, int sizes) {
  TENON_RETURN_IF_ERROR(c.WithRank(c.input(0), 4).status());
  for (int i : {sizes, sizes + 1}) {
    TENON_RETURN_IF_ERROR(c.WithRank(c.input(i), 1).status());
    TENON_RETURN_IF_ERROR(c.WithSize(c.input(i).dim(0), 4).status());
  }
  const std::optional<Dims> ksize = ConstantInts(c, sizes), strides = ConstantInts(c, sizes + 1);
  if (!ksize || !strides) {
    c.set_output(0, PartialShape::UnknownOfRank(4));
    return absl::OkStatus();
  }
  if (ksize->size() != 4 || strides->size() != 4) {
    return absl::InvalidArgumentError(absl::StrCat("ksize and strides must have 4 values but have ",
                                                   ksize->size(), " and ", strides->size()));
  }
  return Pool(c, 2, {ksize->begin(), ksize->end()}, {strides->begin(), strides->end()});
}

}  // namespace

absl::Status MaxPoolV2Shape(InferenceContext& c) { return PoolByInputs(c, 1); }
absl::Status MaxPoolGradGradV2Shape(InferenceContext& c) {
  TENON_RETURN_IF_ERROR(PoolByInputs(c, 3));
  // Without sizes TensorFlow does not know the rank of the result either.
  if (!ConstantInts(c, 3) || !ConstantInts(c, 4))
    return MergeShapes(c.input(0), c.input(2)).status();
  return CheckPoolGradGrad(c);
}
absl::Status MaxPoolGradGradShape(InferenceContext& c) {
  TENON_RETURN_IF_ERROR(PoolByAttrs(c, 2));
  return CheckPoolGradGrad(c);
}
absl::Status MaxPool3DGradGradShape(InferenceContext& c) {
  TENON_RETURN_IF_ERROR(PoolByAttrs(c, 3));
  return CheckPoolGradGrad(c);
}
// Input 1 is the gradient, input 2 where the maxima were.
absl::Status MaxPoolGradGradWithArgmaxShape(InferenceContext& c) {
  TENON_RETURN_IF_ERROR(PoolByAttrs(c, 2));
  TENON_RETURN_IF_ERROR(MergeShapes(c.input(0), c.input(1)).status());
  return MergeShapes(c.input(2), c.output(0).shape).status();
}

absl::Status AvgPoolGradShape(InferenceContext& c) { return FromSizes(c, 0, 4); }
// TensorFlow leaves a wrong number of sizes to the kernel.
absl::Status FractionalAvgPoolGradShape(InferenceContext& c) {
  PartialShape out = PartialShape::UnknownOfRank(4);
  if (c.input_value(0) != nullptr) {
    TENON_ASSIGN_OR_RETURN(out, c.input_as_shape(0));
  }
  c.set_output(0, std::move(out));
  return absl::OkStatus();
}
absl::Status AvgPool3DGradShape(InferenceContext& c) { return FromSizes(c, 0, 5); }
absl::Status LikeInput0Rank4Shape(InferenceContext& c) { return LikeInput(c, 0, 4); }
absl::Status Dilation2DBackpropInputShape(InferenceContext& c) {
  return AtRunTime(LikeInput(c, 0, 4));
}
absl::Status LikeInput1Rank4Shape(InferenceContext& c) { return LikeInput(c, 1, 4); }
absl::Status LikeInput0Rank5Shape(InferenceContext& c) { return LikeInput(c, 0, 5); }

// Grey-scale dilation: the filter has one value per position and channel.
absl::Status Dilation2DShape(InferenceContext& c) {
  TENON_ASSIGN_OR_RETURN(const PartialShape in, c.WithRank(c.input(0), 4));
  TENON_ASSIGN_OR_RETURN(const PartialShape filter, c.WithRank(c.input(1), 3));
  TENON_ASSIGN_OR_RETURN(const std::vector<int64_t> strides, PerDim(c, "strides", 4));
  TENON_ASSIGN_OR_RETURN(const std::vector<int64_t> rates, PerDim(c, "rates", 4));
  TENON_ASSIGN_OR_RETURN(const WindowPadding padding, WindowPaddingOf(c, 4));
  const absl::StatusOr<int64_t> depth = c.MergeDim(in.dim(3), filter.dim(2));
  const bool known = std::min({in.dim(1), in.dim(2), filter.dim(0), filter.dim(1)}) >= 0;
  if (!depth.ok()) return known ? depth.status() : AtRunTime(depth.status());
  PartialShape out({in.dim(0), kUnknownDim, kUnknownDim, *depth});
  absl::Status of_run;
  for (int i = 1; i <= 2; ++i) {
    const absl::StatusOr<int64_t> d =
        DilatedDim(in.dim(i), filter.dim(i - 1), rates[i], strides[i], padding, i);
    if (!d.ok() && known && !IsAtRunTime(d.status())) return d.status();
    if (d.ok()) {
      out.set_dim(i, *d);
    } else {
      of_run = AtRunTime(d.status());
    }
  }
  c.set_output(0, std::move(out));
  return of_run;
}

namespace {

// The input as a constant matrix of paddings pads it. Input and filter have the rank that the
// matrix has rows for.
absl::StatusOr<PartialShape> Padded(InferenceContext& c, PartialShape in, int paddings,
                                    int filter) {
  TENON_ASSIGN_OR_RETURN(const PartialShape pads, c.WithRank(c.input(paddings), 2));
  if (pads.dim(0) > kMaxRank) return Invalid("paddings for ", pads.dim(0), " dimensions");
  if (pads.dim(0) >= 0) {
    TENON_RETURN_IF_ERROR(c.WithRank(in, static_cast<int>(pads.dim(0))).status());
    TENON_RETURN_IF_ERROR(c.WithRank(c.input(filter), static_cast<int>(pads.dim(0))).status());
  }
  TENON_RETURN_IF_ERROR(MergeShapes(pads, PartialShape({4, 2})).status());
  TENON_ASSIGN_OR_RETURN(in, c.WithRank(in, 4));
  const std::optional<Dims> values = ConstantInts(c, paddings);
  if (values && std::ranges::any_of(*values, [](int64_t p) { return p < 0; }))
    return Invalid("Paddings must be non-negative");
  for (int i = 0; i < 4; ++i) {
    if (!values) {
      in.set_dim(i, kUnknownDim);
      continue;
    }
    TENON_ASSIGN_OR_RETURN(const int64_t before, AddDims(in.dim(i), (*values)[2 * i]));
    TENON_ASSIGN_OR_RETURN(const int64_t both, AddDims(before, (*values)[2 * i + 1]));
    in.set_dim(i, both);
  }
  return in;
}

absl::Status ConvolvePadded(InferenceContext& c, PartialShape in, int paddings, int filter_input) {
  TENON_ASSIGN_OR_RETURN(in, Padded(c, std::move(in), paddings, filter_input));
  TENON_ASSIGN_OR_RETURN(const PartialShape filter, c.WithRank(c.input(filter_input), 4));
  TENON_ASSIGN_OR_RETURN(const std::vector<int64_t> strides, PerDim(c, "strides", 4));
  TENON_ASSIGN_OR_RETURN(const WindowPadding padding, WindowPaddingOf(c, 4));
  TENON_RETURN_IF_ERROR(c.MergeDim(in.dim(3), filter.dim(2)).status());
  PartialShape out({in.dim(0), kUnknownDim, kUnknownDim, filter.dim(3)});
  for (int i = 1; i <= 2; ++i) {
    TENON_ASSIGN_OR_RETURN(const int64_t d,
                           WindowedDim(in.dim(i), filter.dim(i - 1), 1, strides[i], padding, i));
    out.set_dim(i, d);
  }
  c.set_output(0, std::move(out));
  return absl::OkStatus();
}

}  // namespace

absl::Status FusedPadConv2DShape(InferenceContext& c) {
  return ConvolvePadded(c, c.input(0), 1, 2);
}

absl::Status FusedResizeAndPadConv2DShape(InferenceContext& c) {
  TENON_ASSIGN_OR_RETURN(PartialShape in, c.WithRank(c.input(0), 4));
  TENON_RETURN_IF_ERROR(MergeShapes(c.input(1), Vector(2)).status());
  TENON_ASSIGN_OR_RETURN(const PartialShape size, c.input_as_shape(1));
  TENON_RETURN_IF_ERROR(c.WithRank(size, 2).status());
  in.set_dim(1, size.dim(0));
  in.set_dim(2, size.dim(1));
  return ConvolvePadded(c, std::move(in), 2, 3);
}

}  // namespace tenon::ops
