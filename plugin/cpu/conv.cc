// Shapes and attributes of the convolutions; the arithmetic is done in conv_onednn.cc and
// conv_any.cc.
#include "plugin/cpu/conv.h"

#include "absl/strings/str_cat.h"
#include "graph/status_macros.h"
#include "plugin/cpu/families.h"
#include "plugin/cpu/kernel_util.h"
#include "plugin/cpu/onednn.h"

namespace tenon::cpu {
namespace {

absl::Status ReadChannels(const Prepare& p, int64_t in, const Shape& filter, ConvProblem& q) {
  q.in_channels = in;
  if (q.depthwise) {
    q.groups = in;
    q.out_channels = filter.dim(2) * filter.dim(3);
    if (filter.dim(2) == in) return absl::OkStatus();
    return p.Invalid(absl::StrCat("the input has ", in, " channels, the filter ", filter.dim(2)));
  }
  q.out_channels = filter.dim(3);
  if (filter.dim(2) < 1 || in % filter.dim(2) != 0) {
    return p.Invalid(absl::StrCat(
        "the ", in, " channels of the input are no multiple of the filter's ", filter.dim(2)));
  }
  q.groups = std::max<int64_t>(1, in / filter.dim(2));
  if (q.out_channels % q.groups == 0) return absl::OkStatus();
  return p.Invalid(
      absl::StrCat(q.out_channels, " output channels cannot be split into ", q.groups, " groups"));
}

absl::Status Choose(Prepare& p, const ConvProblem& q, const Shape& output) {
  if (output.num_elements() == 0) return absl::OkStatus();
  const bool work = q.in_channels > 0 && q.rows.in > 0 && q.columns.in > 0;
  if (work && OneDnnType(p.input_type(0)).has_value()) {
    const absl::Status status = PrepareOneDnnConv(p, q);
    if (!absl::IsUnimplemented(status)) return status;
  }
  return PrepareAnyConv(p, q);
}

absl::Status PrepareConvAs(Prepare& p, bool depthwise) {
  const Shape& input = p.input_shape(0);
  const Shape& filter = p.input_shape(1);
  for (int i = 0; i < 2; ++i) {
    if (p.input_shape(i).rank() != 4) {
      return p.Invalid(absl::StrCat(i == 0 ? "the input" : "the filter", " must have rank 4, not ",
                                    p.input_shape(i).ToString()));
    }
  }
  TENON_ASSIGN_OR_RETURN(const WindowAttrs attrs, ReadWindowAttrs(p));
  if (p.op().FindAttr("filter_format") != nullptr) {
    TENON_ASSIGN_OR_RETURN(const std::string_view format, p.AttrString("filter_format"));
    if (format != "HWIO")
      return p.Unimplemented(absl::StrCat("filter_format ", format, " is not built"));
  }
  if (attrs.strides[0] != 1 || attrs.strides[attrs.channel()] != 1) {
    return p.Invalid("strides must be 1 for batch and channels");
  }
  if (depthwise && attrs.strides[attrs.spatial(0)] != attrs.strides[attrs.spatial(1)]) {
    return p.Invalid("strides of rows and columns must be equal");
  }
  ConvProblem q;
  q.nchw = attrs.nchw;
  q.depthwise = depthwise;
  q.batch = input.dim(0);
  TENON_RETURN_IF_ERROR(ReadChannels(p, input.dim(attrs.channel()), filter, q));
  TENON_ASSIGN_OR_RETURN(q.rows,
                         MakeWindowAxis(p, attrs, 0, input.dim(attrs.spatial(0)), filter.dim(0)));
  TENON_ASSIGN_OR_RETURN(q.columns,
                         MakeWindowAxis(p, attrs, 1, input.dim(attrs.spatial(1)), filter.dim(1)));
  TENON_ASSIGN_OR_RETURN(q.fused, ReadFusedOps(p, 2));
  Dims dims = {q.batch, q.rows.out, q.columns.out, q.out_channels};
  if (q.nchw) dims = {q.batch, q.out_channels, q.rows.out, q.columns.out};
  TENON_ASSIGN_OR_RETURN(const Shape output, CheckedShape(p, dims));
  TENON_RETURN_IF_ERROR(CheckFusedShapes(p, q.fused, output, attrs.channel()));
  p.set_output_shape(0, output);
  return Choose(p, q, output);
}

absl::Status PrepareConv(Prepare& p) { return PrepareConvAs(p, false); }
absl::Status PrepareDepthwiseConv(Prepare& p) { return PrepareConvAs(p, true); }

const CpuKernelSpec kKernels[] = {
    {"Conv2D", {{"T", kFloatTypes | TypeBit(DataType::kInt32)}}, &PrepareConv},
    {"_FusedConv2D", {{"T", kFloatTypes}}, &PrepareConv},
    {"DepthwiseConv2dNative", {{"T", kFloatTypes}}, &PrepareDepthwiseConv},
    {"_FusedDepthwiseConv2dNative", {{"T", kFloatTypes}}, &PrepareDepthwiseConv},
};

}  // namespace

absl::Span<const CpuKernelSpec> ConvKernels() { return kKernels; }

}  // namespace tenon::cpu
