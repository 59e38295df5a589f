// Shapes of the convolutions' gradients; the arithmetic is done in conv_grad_onednn.cc, ../windows/
// and conv_grad_any.cc. The input's gradient is also a transposed convolution.
#include "absl/strings/str_cat.h"
#include "graph/base/status_macros.h"
#include "plugin/cpu/base/kernel_util.h"
#include "plugin/cpu/nn/conv/conv.h"
#include "plugin/cpu/onednn/onednn.h"
#include "plugin/kernels/kernel.h"
#include "plugin/kernels/kernel_spec.h"

namespace tenon::cpu {
namespace {

// Which gradients an op computes, and of which convolution.
struct GradOp {
  int spatial_dims = 2;
  bool depthwise = false;
  bool from_tensor = false;  // input `of` is the tensor whose gradient is asked for, not its shape
};

// The forward convolution of an input and a filter, whose output must look like input 2.
absl::StatusOr<ConvProblem> ReadGrad(const Prepare& p, const GradOp& op, const Shape& input,
                                     const Shape& filter) {
  TENON_ASSIGN_OR_RETURN(WindowAttrs attrs, ReadWindowAttrs(p, op.spatial_dims));
  // Depthwise gradients do not look at their dilations, in TensorFlow and so here.
  if (op.depthwise) attrs.dilations.assign(attrs.dilations.size(), 1);
  TENON_ASSIGN_OR_RETURN(ConvProblem q, ReadConv(p, attrs, input, filter, op.depthwise));
  TENON_ASSIGN_OR_RETURN(const Shape want, CheckedShape(p, q.OutputDims()));
  if (p.input_shape(2) == want) return q;
  return p.Invalid(absl::StrCat("the gradient has shape ", p.input_shape(2).ToString(),
                                " where the convolution's output has ", want.ToString()));
}

// The shape of the tensor whose gradient is asked for: input `of` gives or has it.
absl::StatusOr<Shape> ShapeOf(const Prepare& p, const GradOp& op, int of) {
  if (op.from_tensor) return p.input_shape(of);
  TENON_ASSIGN_OR_RETURN(Dims dims, p.InputInts(of));
  const Shape& filter = p.input_shape(1);
  const Shape& gradient = p.input_shape(2);
  const int rank = op.spatial_dims + 2;
  // Rows and columns alone: the batch is the gradient's, the channels are the filter's.
  if (of == 0 && dims.size() == 2 && rank == 4 && filter.rank() == 4 && gradient.rank() == 4) {
    TENON_ASSIGN_OR_RETURN(const WindowAttrs attrs, ReadWindowAttrs(p, 2));
    dims.insert(dims.begin(), gradient.dim(0));
    dims.insert(dims.begin() + attrs.channel(), filter.dim(2));
  }
  if (static_cast<int>(dims.size()) == rank) return CheckedShape(p, dims);
  return p.Invalid(
      absl::StrCat("the sizes of input ", of, " must be ", rank, ", not ", dims.size()));
}

absl::Status PrepareInputGrad(Prepare& p, const GradOp& op) {
  TENON_ASSIGN_OR_RETURN(const Shape input, ShapeOf(p, op, 0));
  TENON_ASSIGN_OR_RETURN(const ConvProblem q, ReadGrad(p, op, input, p.input_shape(1)));
  p.set_output_shape(0, input);
  if (input.num_elements() == 0) return absl::OkStatus();
  // Without any gradient the result is zeros, which the plain loops make.
  const bool work = p.input_shape(2).num_elements() > 0;
  if (work && OneDnnType(p.input_type(2)).has_value()) {
    const absl::Status status = PrepareOneDnnInputGrad(p, q);
    if (!absl::IsUnimplemented(status)) return status;
  }
  if (work) {
    const absl::Status status = PrepareWindowInputGrad(p, q);
    if (!absl::IsUnimplemented(status)) return status;
  }
  return PrepareAnyInputGrad(p, q);
}

absl::Status PrepareFilterGrad(Prepare& p, const GradOp& op) {
  TENON_ASSIGN_OR_RETURN(const Shape filter, ShapeOf(p, op, 1));
  TENON_ASSIGN_OR_RETURN(const ConvProblem q, ReadGrad(p, op, p.input_shape(0), filter));
  if (q.in_channels == 0 && !op.depthwise && (op.spatial_dims == 2 || filter.num_elements() > 0)) {
    return p.Invalid(absl::StrCat("an input without channels has no filter, and none of shape ",
                                  filter.ToString()));
  }
  p.set_output_shape(0, filter);
  if (filter.num_elements() == 0) return absl::OkStatus();
  const bool work = p.input_shape(0).num_elements() > 0 && p.input_shape(2).num_elements() > 0;
  if (work && p.input_type(2) == DataType::kFloat) {
    const absl::Status status = PrepareOneDnnFilterGrad(p, q);
    if (!absl::IsUnimplemented(status)) return status;
  }
  if (work) {
    const absl::Status status = PrepareWindowFilterGrad(p, q);
    if (!absl::IsUnimplemented(status)) return status;
  }
  return PrepareAnyFilterGrad(p, q);
}

constexpr GradOp k2D, k3D{.spatial_dims = 3}, kDepthwise{.depthwise = true},
    k3DTensor{.spatial_dims = 3, .from_tensor = true};

template <const GradOp& kOp>
absl::Status InputGrad(Prepare& p) {
  return PrepareInputGrad(p, kOp);
}
template <const GradOp& kOp>
absl::Status FilterGrad(Prepare& p) {
  return PrepareFilterGrad(p, kOp);
}

const CpuKernelSpec kConvGradKernels[] = {
    {"Conv2DBackpropInput", {{"T", kFloatTypes | TypeBit(DataType::kInt32)}}, &InputGrad<k2D>, 0b1},
    {"Conv2DBackpropFilter", {{"T", kFloatTypes}}, &FilterGrad<k2D>, 0b10},
    {"Conv3DBackpropInput", {{"T", kFloatTypes}}, &InputGrad<k3DTensor>},
    {"Conv3DBackpropFilter", {{"T", kFloatTypes}}, &FilterGrad<k3DTensor>},
    {"Conv3DBackpropInputV2", {{"T", kFloatTypes}}, &InputGrad<k3D>, 0b1},
    {"Conv3DBackpropFilterV2", {{"T", kFloatTypes}}, &FilterGrad<k3D>, 0b10},
    {"DepthwiseConv2dNativeBackpropInput", {{"T", kFloatTypes}}, &InputGrad<kDepthwise>, 0b1},
    {"DepthwiseConv2dNativeBackpropFilter", {{"T", kFloatTypes}}, &FilterGrad<kDepthwise>, 0b10},
};

}  // namespace

absl::Span<const CpuKernelSpec> ConvGradKernels() { return kConvGradKernels; }

}  // namespace tenon::cpu
