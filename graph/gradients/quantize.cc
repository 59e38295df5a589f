// Values rounded to few bits in training: the gradient of rounding counts as 1 within the range.
#include "graph/gradients/families.h"
#include "graph/gradients/gradient_scope.h"

namespace tenon::gradients {
namespace {

Value OfFakeQuantArgs(GradientScope& s) {
  return Op("FakeQuantWithMinMaxArgsGradient", {s.dy(), s.x()},
            s.Attrs({"min", "max", "num_bits", "narrow_range"}));
}

// The range has gradients too.
void SetThree(GradientScope& s, std::string_view op, NewAttrs attrs) {
  const NodeId n = s.builder().AddNode(op, {s.dy(), s.x(0), s.x(1), s.x(2)}, std::move(attrs));
  for (int i = 0; i < 3; ++i) s.Set(i, s.builder().At(n, i));
}

void FakeQuantVarsGradient(GradientScope& s) {
  SetThree(s, "FakeQuantWithMinMaxVarsGradient", s.Attrs({"num_bits", "narrow_range"}));
}

void FakeQuantPerChannelGradient(GradientScope& s) {
  SetThree(s, "FakeQuantWithMinMaxVarsPerChannelGradient", s.Attrs({"num_bits", "narrow_range"}));
}

void QuantizeAndDequantizeV4Gradient(GradientScope& s) {
  SetThree(s, "QuantizeAndDequantizeV4Grad", s.Attrs({"axis"}));
}

void StraightThrough(GradientScope& s) { s.Set(0, s.dy()); }

constexpr GradientRow kQuantize[] = {
    {"FakeQuantWithMinMaxArgs", Unary<OfFakeQuantArgs>},
    {"FakeQuantWithMinMaxArgsGradient", nullptr},
    {"FakeQuantWithMinMaxVars", FakeQuantVarsGradient},
    {"FakeQuantWithMinMaxVarsGradient", nullptr},
    {"FakeQuantWithMinMaxVarsPerChannel", FakeQuantPerChannelGradient},
    {"FakeQuantWithMinMaxVarsPerChannelGradient", nullptr},
    {"QuantizeAndDequantize", StraightThrough},
    {"QuantizeAndDequantizeV2", StraightThrough},
    {"QuantizeAndDequantizeV3", StraightThrough},
    {"QuantizeAndDequantizeV4", QuantizeAndDequantizeV4Gradient},
};

}  // namespace

absl::Span<const GradientRow> Quantize() { return kQuantize; }

}  // namespace tenon::gradients
