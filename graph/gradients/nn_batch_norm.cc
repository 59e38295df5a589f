// Batch normalization and its second derivative.
#include "graph/gradients/families.h"
#include "graph/gradients/gradient_scope.h"

namespace tenon::gradients {
namespace {

bool ChannelsFirst(GradientScope& s) { return s.String("data_format").starts_with("NC"); }

bool IsVolume(GradientScope& s) { return s.String("data_format").size() == 5; }

// NCHW to NHWC, NCDHW to NDHWC, and back.
Value WithChannelsLast(GradientScope& s, Value x) {
  return Transpose(
      x, IsVolume(s) ? s.builder().Ints({0, 2, 3, 4, 1}) : s.builder().Ints({0, 2, 3, 1}));
}
Value WithChannelsFirst(GradientScope& s, Value x) {
  return Transpose(
      x, IsVolume(s) ? s.builder().Ints({0, 4, 1, 2, 3}) : s.builder().Ints({0, 3, 1, 2}));
}

// With fixed statistics the kernel of the gradient wants channels last.
void FusedBatchNormGradient(GradientScope& s) {
  const bool training = s.Bool("is_training"), turns = !training && ChannelsFirst(s);
  const std::string_view op = s.op();
  const bool is_v3 = op.ends_with("V3");
  Value x = s.x(0), dy = s.dy();
  if (turns) {
    x = WithChannelsLast(s, x);
    dy = WithChannelsLast(s, dy);
  }
  std::vector<Value> inputs = {dy, x, s.x(1), training ? s.y(3) : s.x(3),
                               training ? s.y(4) : s.x(4)};
  if (is_v3) inputs.push_back(s.y(5));
  NewAttrs attrs = s.Attrs({"epsilon", "is_training", "data_format"});
  if (turns) PutAttr(attrs, "data_format", attr::String(IsVolume(s) ? "NDHWC" : "NHWC"));
  const char* const grad = is_v3                ? "FusedBatchNormGradV3"
                           : op.ends_with("V2") ? "FusedBatchNormGradV2"
                                                : "FusedBatchNormGrad";
  const NodeId n = s.builder().AddNode(grad, inputs, std::move(attrs));
  const Value dx = s.builder().At(n, 0);
  s.Set(0, turns ? WithChannelsFirst(s, dx) : dx);
  s.Set(1, s.builder().At(n, 1));
  s.Set(2, s.builder().At(n, 2));
}

// --- The gradient of FusedBatchNormGrad, which computes from g (what flows into y), x and the
// scale, with c = x - mean and r = rsqrt(variance + epsilon),
//   dx = scale r (g - mean(g) - c r^2 mean(g c)),   dscale = r sum(g c),   doffset = sum(g)
// where the mean within the variance counts as a constant: as c sums to 0 that changes nothing
// here, but derivatives of this gradient are then those of TensorFlow's; or, with fixed statistics,
// dx = scale r g and the same sums. A, B and C flow into the three.
class SecondDerivative {
 public:
  explicit SecondDerivative(GradientScope& s)
      : s_(s),
        training_(s.Bool("is_training")),
        g_(Cast(s.x(0), DataType::kFloat)),
        x_(Cast(s.x(1), DataType::kFloat)),
        scale_(PerChannel(s.x(2))),
        a_(Cast(s.dy(0), DataType::kFloat)),
        b_(PerChannel(s.dy(1))) {
    const Value mean = training_ ? Mean(x_) : PerChannel(s.x(3));
    c_ = x_ - mean;
    c_of_variance_ = x_ - Op("StopGradient", {mean});
    const Value variance = training_ ? Mean(Square(c_of_variance_)) : PerChannel(s.x(4));
    r_ = Op("Rsqrt", {variance + double{s.Float("epsilon")}});
  }

  void Set() {
    const Value by_g = OfG() + b_ * r_ * c_ + PerChannel(s_.dy(2));
    s_.Set(0, Cast(by_g, s_.x(0).dtype()));
    s_.Set(1, Cast(OfX(), s_.x(1).dtype()));
    s_.Set(2, Reshape(Op("Sum", {a_ * Project(g_) * r_, Axes()}), ShapeOf(s_.x(2))));
  }

 private:
  Value Axes() {
    std::vector<int64_t> axes =
        ChannelsFirst(s_) ? std::vector<int64_t>{0, 2, 3} : std::vector<int64_t>{0, 1, 2};
    if (IsVolume(s_)) axes.push_back(ChannelsFirst(s_) ? 4 : 3);
    return s_.builder().Ints(axes);
  }
  Value Mean(Value v) { return Op("Mean", {v, Axes()}, {{"keep_dims", attr::Bool(true)}}); }
  // A vector of channels, to go with x.
  Value PerChannel(Value v) {
    if (!ChannelsFirst(s_)) return v;
    return Reshape(
        v, IsVolume(s_) ? s_.builder().Ints({1, -1, 1, 1, 1}) : s_.builder().Ints({1, -1, 1, 1}));
  }
  // What dx does to g without the factor scale r. It is symmetric.
  Value Project(Value v) { return training_ ? v - Mean(v) - c_ * Square(r_) * Mean(v * c_) : v; }
  Value OfG() { return scale_ * r_ * Project(a_); }
  // With fixed statistics only dscale depends on x. Else r and c do, and c sums to 0.
  Value OfX() {
    if (!training_) return b_ * r_ * g_;
    const Value ac = Mean(a_ * c_), gc = Mean(g_ * c_), rr = Square(r_);
    const Value by_c = b_ * r_ * g_ - scale_ * r_ * rr * (gc * a_ + ac * g_);
    const Value covariance = Mean(a_ * g_) - Mean(a_) * Mean(g_);
    const Value by_r = scale_ * (covariance - 3.0 * rr * ac * gc) + b_ * gc;
    return by_c - Mean(by_c) - r_ * rr * c_of_variance_ * by_r;
  }

  GradientScope& s_;
  bool training_;
  Value g_, x_, scale_, a_, b_, c_, r_;
  Value c_of_variance_;
};

void FusedBatchNormGradGradient(GradientScope& s) { SecondDerivative(s).Set(); }

void GlobalNormalizationGradient(GradientScope& s) {
  const NodeId n = s.builder().AddNode("BatchNormWithGlobalNormalizationGrad",
                                       {s.x(0), s.x(1), s.x(2), s.x(4), s.dy()},
                                       s.Attrs({"variance_epsilon", "scale_after_normalization"}));
  for (int i = 0; i < 5; ++i) s.Set(i, s.builder().At(n, i));
}

constexpr GradientRow kBatchNorm[] = {
    {"BatchNormWithGlobalNormalization", GlobalNormalizationGradient},
    {"FusedBatchNorm", FusedBatchNormGradient},
    {"FusedBatchNormGrad", FusedBatchNormGradGradient},
    {"FusedBatchNormGradV2", FusedBatchNormGradGradient},
    {"FusedBatchNormGradV3", FusedBatchNormGradGradient},
    {"FusedBatchNormV2", FusedBatchNormGradient},
    {"FusedBatchNormV3", FusedBatchNormGradient},
};

}  // namespace

absl::Span<const GradientRow> NnBatchNorm() { return kBatchNorm; }

}  // namespace tenon::gradients
