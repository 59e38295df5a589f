// Layers of neural networks: biases, softmax, losses, normalization of responses. Convolutions and
// pools stand in nn_windows.cc, batch normalization in nn_batch_norm.cc.
#include "graph/gradients/families.h"
#include "graph/gradients/gradient_scope.h"

namespace tenon::gradients {
namespace {

Value SumOfLast(Value x) { return Sum(x, x.builder().Ints({-1}), /*keep_dims=*/true); }

Value OfSoftmax(GradientScope& s) { return (s.dy() - SumOfLast(s.dy() * s.y())) * s.y(); }

Value OfLogSoftmax(GradientScope& s) { return s.dy() - SumOfLast(s.dy()) * Op("Exp", {s.y()}); }

void BiasAddGradient(GradientScope& s) {
  s.Set(0, s.dy());
  s.Set(1, Op("BiasAddGrad", {s.dy()}, s.Attrs({"data_format"})));
}

void BiasAddV1Gradient(GradientScope& s) {
  s.Set(0, s.dy());
  s.Set(1, Op("BiasAddGrad", {s.dy()}));
}

// The bias for each element: channels are the last axis, or axis 1.
Value OfBiasAddGrad(GradientScope& s) {
  GraphBuilder& b = s.builder();
  const Value shape = ShapeOf(s.x());
  if (s.String("data_format") != "NCHW") return Op("BroadcastTo", {s.dy(), shape});
  const Value behind = Fill(ExpandDims(RankOf(s.x()) - 2.0, 0), b.Scalar(DataType::kInt32, 1));
  return Op("BroadcastTo", {Reshape(s.dy(), Concat({b.Ints({-1}), behind}, 0)), shape});
}

// The op gives the derivative of the loss beside the loss. What flows into that derivative goes
// through the softmax.
Value OfCrossEntropy(GradientScope& s) {
  const Value dx = ExpandDims(s.dy(0), -1) * s.y(1);
  if (!s.has_dy(1)) return dx;
  const Value softmax = Op("Softmax", {s.x(0)});
  return dx + (s.dy(1) - SumOfLast(s.dy(1) * softmax)) * softmax;
}

void CrossEntropyGradient(GradientScope& s) {
  s.Set(0, OfCrossEntropy(s));
  s.Set(1, ExpandDims(s.dy(0), -1) * -Op("LogSoftmax", {s.x(0)}));
}

Value OfLrn(GradientScope& s) {
  return Op("LRNGrad", {s.dy(), s.x(), s.y()}, s.Attrs({"depth_radius", "bias", "alpha", "beta"}));
}

// Each element of a row has the mean of its segment. Segments of all rows are numbered through.
Value OfIsotonicRegression(GradientScope& s) {
  GraphBuilder& b = s.builder();
  const Value flat = b.Ints({-1}), dy = Reshape(s.dy(), flat), size = SizeOf(s.x());
  const Value rows = DimOf(s.x(), 0), columns = DimOf(s.x(), 1);
  const Value first = Range(b.Scalar(DataType::kInt32, 0), rows) * columns;
  const Value segments = Reshape(s.y(1) + ExpandDims(first, 1), flat);
  const auto sum = [&](Value v) { return Op("UnsortedSegmentSum", {v, segments, size}); };
  const Value means = sum(dy) / sum(OnesLike(dy));
  return Cast(ReshapeLike(Gather(means, segments), s.x()), s.x().dtype());
}

constexpr GradientRow kNn[] = {
    {"BiasAdd", BiasAddGradient},
    {"BiasAddGrad", Unary<OfBiasAddGrad>},
    {"BiasAddV1", BiasAddV1Gradient},
    {"IsotonicRegression", Unary<OfIsotonicRegression>},
    {"L2Loss", Unary<[](GradientScope& s) { return s.x() * s.dy(); }>},
    {"LRN", Unary<OfLrn>},
    {"LogSoftmax", Unary<OfLogSoftmax>},
    {"Softmax", Unary<OfSoftmax>},
    {"SoftmaxCrossEntropyWithLogits", CrossEntropyGradient},
    {"SparseSoftmaxCrossEntropyWithLogits", Unary<OfCrossEntropy>},
};

}  // namespace

absl::Span<const GradientRow> Nn() { return kNn; }

}  // namespace tenon::gradients
