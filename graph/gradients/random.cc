// Samples as functions of the parameters of their distributions: the derivative of a sample is that
// of the quantile at which it stands.
#include <limits>

#include "graph/gradients/families.h"
#include "graph/gradients/gradient_scope.h"

namespace tenon::gradients {
namespace {

// Alpha is repeated along the axes that the shape of the samples has before its own.
template <int kAlpha>
void RandomGammaGradient(GradientScope& s) {
  const Value alpha = s.x(kAlpha);
  const Value by_alpha = Op("RandomGammaGrad", {alpha, s.y()});
  s.Set(kAlpha, SumToShapeOf(s.dy() * by_alpha, alpha, s.y()));
}

// The probability that a standard normal number is below x.
Value NormalBelow(Value x) { return 0.5 * Op("Erfc", {-0.70710678118654752440 * x}); }

// The share of the samples that are below the sample, kept inside of (0, 1).
Value TruncatedShare(Value sample, Value low, Value high) {
  const bool wide = sample.dtype() == DataType::kDouble;
  const double tiny = wide ? std::numeric_limits<double>::min() : std::numeric_limits<float>::min();
  const double eps =
      wide ? std::numeric_limits<double>::epsilon() : std::numeric_limits<float>::epsilon();
  const Value below_low = NormalBelow(low);
  const Value share = (NormalBelow(sample) - below_low) / (NormalBelow(high) - below_low);
  return Op("Maximum", {Op("Minimum", {share, Number(share, 1 - eps)}), Number(share, tiny)});
}

// Inputs: shape, seed, mean, deviation, least and greatest sample.
void TruncatedNormalGradient(GradientScope& s) {
  const Value mean = s.x(2), deviation = s.x(3), dy = s.dy();
  if (dy.dtype() == DataType::kHalf) {
    s.Unimplemented("samples of type half");
    return;
  }
  const auto standard = [&](Value x) { return (x - mean) / deviation; };
  const Value sample = standard(s.y()), low = standard(s.x(4)), high = standard(s.x(5));
  const Value share = TruncatedShare(sample, low, high);
  const auto of_bound = [&](Value bound, Value part) {
    return dy * Op("Exp", {0.5 * (Square(sample) - Square(bound))}) * part;
  };
  s.Set(2, SumToShapeOf(dy, mean, s.y()));
  s.Set(3, SumToShapeOf(dy * sample, deviation, s.y()));
  s.Set(4, SumToShapeOf(of_bound(low, 1.0 - share), s.x(4), s.y()));
  s.Set(5, SumToShapeOf(of_bound(high, share), s.x(5), s.y()));
}

constexpr GradientRow kRandom[] = {
    {"Multinomial", nullptr},
    {"ParameterizedTruncatedNormal", nullptr},
    {"RandomGamma", RandomGammaGradient<1>},
    {"RandomIndexShuffle", nullptr},
    {"RandomShuffle", nullptr},
    {"RandomStandardNormal", nullptr},
    {"RandomUniform", nullptr},
    {"StatelessMultinomial", nullptr},
    {"StatelessParameterizedTruncatedNormal", TruncatedNormalGradient},
    {"StatelessRandomBinomial", nullptr},
    {"StatelessRandomGammaV2", RandomGammaGradient<2>},
    {"StatelessRandomGammaV3", RandomGammaGradient<4>},
    {"StatelessRandomNormal", nullptr},
    {"StatelessRandomNormalV2", nullptr},
    {"StatelessRandomPoisson", nullptr},
    {"StatelessRandomUniform", nullptr},
    {"StatelessRandomUniformV2", nullptr},
    {"StatelessTruncatedNormal", nullptr},
    {"StatelessTruncatedNormalV2", nullptr},
    {"TruncatedNormal", nullptr},
};

}  // namespace

absl::Span<const GradientRow> Random() { return kRandom; }

}  // namespace tenon::gradients
