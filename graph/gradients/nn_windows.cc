// Convolutions and pools over 2 and 3 dimensions, and their gradients' gradients.
#include "graph/gradients/families.h"
#include "graph/gradients/gradient_scope.h"

namespace tenon::gradients {
namespace {

// The three ops of a convolution. Each is the derivative of one of the others by one operand.
struct Convolution {
  const char *forward, *by_input, *by_filter;
};
constexpr Convolution kConv2D = {"Conv2D", "Conv2DBackpropInput", "Conv2DBackpropFilter"},
                      kConv3D = {"Conv3D", "Conv3DBackpropInputV2", "Conv3DBackpropFilterV2"},
                      kDepthwise = {"DepthwiseConv2dNative", "DepthwiseConv2dNativeBackpropInput",
                                    "DepthwiseConv2dNativeBackpropFilter"};

// Attributes of a convolution for another of its three ops; the type of a shape is none of them.
NewAttrs ConvolutionAttrs(GradientScope& s) {
  NewAttrs attrs = s.AllAttrs();
  std::erase_if(attrs, [](const Graph::NewAttr& a) { return a.name == "Tshape"; });
  return attrs;
}

template <const Convolution& kConv>
void ConvGradient(GradientScope& s) {
  const NewAttrs attrs = ConvolutionAttrs(s);
  const Value x = s.x(0), filter = s.x(1);
  if (s.wanted(0)) s.Set(0, Op(kConv.by_input, {ShapeOf(x), filter, s.dy()}, attrs));
  if (s.wanted(1)) s.Set(1, Op(kConv.by_filter, {x, ShapeOf(filter), s.dy()}, attrs));
}

// Inputs: shape of x, filter, dy.
template <const Convolution& kConv>
void ConvByInputGradient(GradientScope& s) {
  const NewAttrs attrs = ConvolutionAttrs(s);
  const Value filter = s.x(1);
  s.Set(1, Op(kConv.by_filter, {s.dy(), ShapeOf(filter), s.x(2)}, attrs));
  s.Set(2, Op(kConv.forward, {s.dy(), filter}, attrs));
}

// Inputs: x, shape of the filter, dy.
template <const Convolution& kConv>
void ConvByFilterGradient(GradientScope& s) {
  const NewAttrs attrs = ConvolutionAttrs(s);
  const Value x = s.x(0);
  s.Set(0, Op(kConv.by_input, {ShapeOf(x), s.dy(), s.x(2)}, attrs));
  s.Set(2, Op(kConv.forward, {x, s.dy()}, attrs));
}

void Dilation2DGradient(GradientScope& s) {
  const NewAttrs attrs = s.Attrs({"strides", "rates", "padding"});
  s.Set(0, Op("Dilation2DBackpropInput", {s.x(0), s.x(1), s.dy()}, attrs));
  s.Set(1, Op("Dilation2DBackpropFilter", {s.x(0), s.x(1), s.dy()}, attrs));
}

// --- Pools.

NewAttrs WindowOf(GradientScope& s) {
  return s.Attrs({"ksize", "strides", "padding", "data_format"});
}

template <const char* kGrad>
Value OfAvgPool(GradientScope& s) {
  return Op(kGrad, {ShapeOf(s.x()), s.dy()}, WindowOf(s));
}

template <const char* kPool>
void AvgPoolGradGradient(GradientScope& s) {
  s.Set(1, Op(kPool, {s.dy()}, WindowOf(s)));
}

Value OfMaxPool(GradientScope& s) {
  NewAttrs attrs = WindowOf(s);
  if (s.op() == "MaxPool") attrs.push_back(s.Attrs({"explicit_paddings"}).front());
  return Op(s.op() == "MaxPool" ? "MaxPoolGrad" : "MaxPool3DGrad", {s.x(), s.y(), s.dy()},
            std::move(attrs));
}

Value OfMaxPoolV2(GradientScope& s) {
  return Op("MaxPoolGradV2", {s.x(0), s.y(), s.dy(), s.x(1), s.x(2)},
            s.Attrs({"padding", "data_format"}));
}

Value OfMaxPoolWithArgmax(GradientScope& s) {
  return Op("MaxPoolGradWithArgmax", {s.x(), s.dy(), s.y(1)},
            s.Attrs({"ksize", "strides", "padding", "include_batch_in_index"}));
}

// Which element is the greatest does not depend on x but at steps. Inputs: x, y, dy.
template <const char* kOther>
void MaxPoolGradGradient(GradientScope& s) {
  s.Set(0, ZerosLike(s.x(0)));
  s.Set(1, ZerosLike(s.x(1)));
  s.Set(2, Op(kOther, {s.x(0), s.x(1), s.dy()}, WindowOf(s)));
}

void MaxPoolGradV2Gradient(GradientScope& s) {
  s.Set(0, ZerosLike(s.x(0)));
  s.Set(1, ZerosLike(s.x(1)));
  s.Set(2, Op("MaxPoolGradGradV2", {s.x(0), s.x(1), s.dy(), s.x(3), s.x(4)},
              s.Attrs({"padding", "data_format"})));
}

Value OfFractionalAvgPool(GradientScope& s) {
  return Op("FractionalAvgPoolGrad", {ShapeOf(s.x(), DataType::kInt64), s.dy(), s.y(1), s.y(2)},
            s.Attrs({"overlapping"}));
}

Value OfFractionalMaxPool(GradientScope& s) {
  return Op("FractionalMaxPoolGrad", {s.x(), s.y(), s.dy(), s.y(1), s.y(2)},
            s.Attrs({"overlapping"}));
}

constexpr char kAvgPool[] = "AvgPool", kAvgPoolGrad[] = "AvgPoolGrad", kAvgPool3D[] = "AvgPool3D",
               kAvgPool3DGrad[] = "AvgPool3DGrad", kMaxPoolGrad[] = "MaxPoolGrad",
               kMaxPoolGradGrad[] = "MaxPoolGradGrad", kMaxPool3DGrad[] = "MaxPool3DGrad",
               kMaxPool3DGradGrad[] = "MaxPool3DGradGrad";

constexpr GradientRow kWindows[] = {
    {"AvgPool", Unary<OfAvgPool<kAvgPoolGrad>>},
    {"AvgPool3D", Unary<OfAvgPool<kAvgPool3DGrad>>},
    {"AvgPool3DGrad", AvgPoolGradGradient<kAvgPool3D>},
    {"AvgPoolGrad", AvgPoolGradGradient<kAvgPool>},
    {"Conv2D", ConvGradient<kConv2D>},
    {"Conv2DBackpropFilter", ConvByFilterGradient<kConv2D>},
    {"Conv2DBackpropInput", ConvByInputGradient<kConv2D>},
    {"Conv3D", ConvGradient<kConv3D>},
    {"Conv3DBackpropFilterV2", ConvByFilterGradient<kConv3D>},
    {"Conv3DBackpropInputV2", ConvByInputGradient<kConv3D>},
    {"DepthwiseConv2dNative", ConvGradient<kDepthwise>},
    {"DepthwiseConv2dNativeBackpropFilter", ConvByFilterGradient<kDepthwise>},
    {"DepthwiseConv2dNativeBackpropInput", ConvByInputGradient<kDepthwise>},
    {"Dilation2D", Dilation2DGradient},
    {"FractionalAvgPool", Unary<OfFractionalAvgPool>},
    {"FractionalMaxPool", Unary<OfFractionalMaxPool>},
    {"MaxPool", Unary<OfMaxPool>},
    {"MaxPool3D", Unary<OfMaxPool>},
    {"MaxPool3DGrad", MaxPoolGradGradient<kMaxPool3DGradGrad>},
    {"MaxPool3DGradGrad", MaxPoolGradGradient<kMaxPool3DGrad>},
    {"MaxPoolGrad", MaxPoolGradGradient<kMaxPoolGradGrad>},
    {"MaxPoolGradGrad", MaxPoolGradGradient<kMaxPoolGrad>},
    {"MaxPoolGradV2", MaxPoolGradV2Gradient},
    {"MaxPoolV2", Unary<OfMaxPoolV2>},
    {"MaxPoolWithArgmax", Unary<OfMaxPoolWithArgmax>},
};

}  // namespace

absl::Span<const GradientRow> NnWindows() { return kWindows; }

}  // namespace tenon::gradients
