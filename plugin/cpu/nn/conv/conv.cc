// Shapes and attributes of the convolutions; the arithmetic is done in depthwise.cc,
// conv_onednn.cc, ../windows/ and conv_any.cc.
#include "plugin/cpu/nn/conv/conv.h"

#include "absl/strings/str_cat.h"
#include "graph/base/status_macros.h"
#include "plugin/cpu/base/kernel_util.h"
#include "plugin/cpu/onednn/onednn.h"
#include "plugin/kernels/kernel.h"
#include "plugin/kernels/kernel_spec.h"

namespace tenon::cpu {
namespace {

// `filter_in` and `filter_out` are the filter's last two dimensions.
absl::Status SetChannels(const Prepare& p, int64_t filter_in, int64_t filter_out, bool depthwise,
                         ConvProblem& q) {
  const int64_t in = q.in_channels;
  if (depthwise) {
    // Each input channel is a group of its own; groups divide, so there is at least one.
    q.groups = std::max<int64_t>(1, in);
    q.out_channels = filter_in * filter_out;
    if (filter_in == in) return absl::OkStatus();
    return p.Invalid(absl::StrCat("the input has ", in, " channels, the filter ", filter_in));
  }
  q.out_channels = filter_out;
  if (filter_in < 1 || in % filter_in != 0) {
    return p.Invalid(absl::StrCat(
        "the ", in, " channels of the input are no multiple of the filter's ", filter_in));
  }
  q.groups = std::max<int64_t>(1, in / filter_in);
  return absl::OkStatus();
}

// What is no fault as long as there is nothing to compute.
absl::Status CheckFilter(const Prepare& p, const ConvProblem& q, bool depthwise) {
  if (q.out_channels % q.groups != 0) {
    return p.Invalid(absl::StrCat(q.out_channels, " output channels cannot be split into ",
                                  q.groups, " groups"));
  }
  if (q.window_places() > 0 || depthwise) return absl::OkStatus();
  return p.Invalid("the filter must not be empty");
}

absl::Status Choose(Prepare& p, const ConvProblem& q, const Shape& output) {
  if (output.num_elements() == 0) return absl::OkStatus();
  if (q.window_places() == 0) return PrepareAnyConv(p, q);
  // The fastest that is built: own depthwise loops, oneDNN, own sums over windows, packed windows.
  // Each answers UNIMPLEMENTED for what it does not take.
  absl::Status depthwise = PrepareDepthwiseRows(p, q);
  if (!absl::IsUnimplemented(depthwise)) return depthwise;
  // An output may have elements where no input has: they are zeros and what is fused.
  const bool work = q.in_channels > 0 && q.in_places() > 0;
  if (work && !q.starts_inside() && OneDnnType(p.input_type(0)).has_value()) {
    absl::Status status = PrepareOneDnnConv(p, q);
    if (!absl::IsUnimplemented(status)) return status;
  }
  if (HasType(kHalfTypes, p.input_type(0))) return PrepareWidenedConv(p);
  absl::Status windows = work ? PrepareWindowConv(p, q) : p.Unimplemented("nothing to sum");
  if (!absl::IsUnimplemented(windows)) return windows;
  return PrepareAnyConv(p, q);
}

absl::Status PrepareConvAs(Prepare& p, int spatial_dims, bool depthwise) {
  TENON_ASSIGN_OR_RETURN(WindowAttrs attrs, ReadWindowAttrs(p, spatial_dims));
  attrs.skips_evenly = spatial_dims == 3;
  attrs.empty_windows = true;
  const Shape& filter = p.input_shape(1);
  if (spatial_dims == 3 && filter.num_elements() == 0)
    return p.Invalid("the filter must not be empty");
  TENON_ASSIGN_OR_RETURN(ConvProblem q, ReadConv(p, attrs, p.input_shape(0), filter, depthwise));
  TENON_ASSIGN_OR_RETURN(q.fused, ReadFusedOps(p, 2));
  TENON_ASSIGN_OR_RETURN(const Shape output, CheckedShape(p, q.OutputDims()));
  TENON_RETURN_IF_ERROR(CheckFusedShapes(p, q.fused, output, attrs.channel()));
  if (output.num_elements() > 0) TENON_RETURN_IF_ERROR(CheckFilter(p, q, depthwise));
  p.set_output_shape(0, output);
  return Choose(p, q, output);
}

absl::Status PrepareConv2D(Prepare& p) { return PrepareConvAs(p, 2, false); }
absl::Status PrepareConv3D(Prepare& p) { return PrepareConvAs(p, 3, false); }
absl::Status PrepareDepthwiseConv(Prepare& p) { return PrepareConvAs(p, 2, true); }

// Over images or volumes, whichever the input's rank leaves after `batch_dims` and the channels.
absl::Status PrepareConv(Prepare& p) {
  const Shape &in = p.input_shape(0), &filter = p.input_shape(1);
  TENON_ASSIGN_OR_RETURN(const int64_t batch_dims, p.AttrInt("batch_dims"));
  TENON_ASSIGN_OR_RETURN(const int64_t groups, p.AttrInt("groups"));
  if (batch_dims < 0 || (in.rank() - batch_dims != 3 && in.rank() - batch_dims != 4)) {
    return p.Invalid(absl::StrCat("the input must have 2 or 3 spatial dimensions between ",
                                  batch_dims, " of the batch and the channels"));
  }
  const int b = static_cast<int>(batch_dims), spatial_dims = in.rank() - b - 1;
  TENON_ASSIGN_OR_RETURN(WindowAttrs attrs, ReadWindowAttrs(p, spatial_dims));
  attrs.skips_evenly = spatial_dims == 3;
  if (attrs.padding == "EXPLICIT" && spatial_dims == 3)
    return p.Invalid("padding EXPLICIT is for 2 spatial dimensions only");
  // All batch dimensions as one.
  Shape flat({DimProduct(in, 0, b)});
  for (int d = b; d < in.rank(); ++d) flat.push_back(in.dim(d));
  TENON_ASSIGN_OR_RETURN(const ConvProblem q, ReadConv(p, attrs, flat, filter, false));
  if (filter.num_elements() == 0) return p.Invalid("the filter must not be empty");
  if (q.groups != groups) {
    return p.Invalid(absl::StrCat(q.in_channels, " channels and a filter of ", q.in_per_group(),
                                  " do not make ", groups, " groups"));
  }
  Dims dims(in.dims().begin(), in.dims().begin() + b);
  const Dims out = q.OutputDims();
  dims.insert(dims.end(), out.begin() + 1, out.end());
  TENON_ASSIGN_OR_RETURN(const Shape output, CheckedShape(p, dims));
  p.set_output_shape(0, output);
  return Choose(p, q, output);
}

const CpuKernelSpec kConvKernels[] = {
    {"Conv", {{"T", kFloatTypes | TypeBit(DataType::kInt32)}}, &PrepareConv},
    {"Conv2D", {{"T", kFloatTypes | TypeBit(DataType::kInt32)}}, &PrepareConv2D},
    {"_FusedConv2D", {{"T", kFloatTypes}}, &PrepareConv2D},
    {"_FusedConv2D", {{"T", TypeBits(DataType::kInt8, DataType::kQint8)}}, &PrepareInt8Conv},
    {"Conv3D", {{"T", kFloatTypes}}, &PrepareConv3D},
    {"_FusedConv3D", {{"T", kHalfTypes | TypeBit(DataType::kFloat)}}, &PrepareConv3D},
    {"DepthwiseConv2dNative", {{"T", kFloatTypes}}, &PrepareDepthwiseConv},
    {"_FusedDepthwiseConv2dNative", {{"T", kFloatTypes}}, &PrepareDepthwiseConv},
};

}  // namespace

absl::StatusOr<ConvProblem> ReadConv(const Prepare& p, const WindowAttrs& attrs, const Shape& input,
                                     const Shape& filter, bool depthwise) {
  if (filter.rank() != attrs.rank()) {
    return p.Invalid(
        absl::StrCat("the filter must have rank ", attrs.rank(), ", not ", filter.ToString()));
  }
  if (attrs.strides[0] != 1 || attrs.strides[attrs.channel()] != 1) {
    return p.Invalid("strides must be 1 for batch and channels");
  }
  if (depthwise && attrs.strides[attrs.spatial(0)] != attrs.strides[attrs.spatial(1)]) {
    return p.Invalid("strides of rows and columns must be equal");
  }
  if (p.op().FindAttr("filter_format") != nullptr) {
    TENON_ASSIGN_OR_RETURN(const std::string_view format, p.AttrString("filter_format"));
    if (format != "HWIO")
      return p.Unimplemented(absl::StrCat("filter_format ", format, " is not built"));
  }
  ConvProblem q;
  TENON_ASSIGN_OR_RETURN(static_cast<Windows&>(q), MakeWindows(p, attrs, input, filter.dims()));
  TENON_RETURN_IF_ERROR(SetChannels(p, filter.dim(attrs.spatial_dims),
                                    filter.dim(attrs.spatial_dims + 1), depthwise, q));
  if (!attrs.empty_windows) TENON_RETURN_IF_ERROR(CheckFilter(p, q, depthwise));
  return q;
}

absl::Span<const CpuKernelSpec> ConvKernels() { return kConvKernels; }

}  // namespace tenon::cpu
