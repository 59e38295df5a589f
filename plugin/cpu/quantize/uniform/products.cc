// Scales of quantized matrix products and convolutions: factors in fixed point from int32 sums to
// the output's integers, one per feature.
#include "plugin/cpu/quantize/uniform/products.h"

#include "graph/base/status_macros.h"
#include "plugin/kernels/kernel.h"

namespace tenon::cpu {

absl::StatusOr<ProductScales> ReadProductScales(const Prepare& p, const Shape& out, int rhs_axis,
                                                int out_axis) {
  // The hybrid ops have four inputs: their lhs is float and their output too.
  ProductScales s{p.num_inputs() == 4, 0, rhs_axis >= 0};
  TENON_RETURN_IF_ERROR(CheckScales(p, s.rhs_input(), p.input_shape(1), rhs_axis).status());
  if (!s.hybrid) {
    TENON_RETURN_IF_ERROR(CheckScales(p, ProductScales::kLhsInput, p.input_shape(0), -1).status());
    TENON_RETURN_IF_ERROR(CheckScales(p, ProductScales::kOutInput, out, out_axis).status());
    if (out_axis >= 0 && rhs_axis < 0)
      return p.Invalid("the output is quantized by feature, so the rhs must be, too");
    s.out_per_feature = out_axis >= 0;
    TENON_ASSIGN_OR_RETURN(s.limits, ReadQuantizedLimits(p, "output_"));
  }
  return s;
}

absl::StatusOr<ProductResults> ProductResults::Read(const ProductScales& s, const StepArgs& args,
                                                    void* scratch) {
  auto* const factors = static_cast<FixedFactor*>(scratch);
  TENON_RETURN_IF_ERROR(
      CheckPositive(args, s.rhs_input(), s.per_feature ? s.features : 1, "rhs_scales"));
  if (!s.hybrid) {
    TENON_RETURN_IF_ERROR(CheckPositive(args, ProductScales::kLhsInput, 1, "lhs_scales"));
    TENON_RETURN_IF_ERROR(CheckPositive(args, ProductScales::kOutInput,
                                        s.out_per_feature ? s.features : 1, "output_scales"));
    const double lhs = ScaleAt(args, ProductScales::kLhsInput, 0);
    for (int64_t i = 0; i < s.features; ++i) {
      const double product = lhs * ScaleAt(args, s.rhs_input(), s.per_feature ? i : 0);
      TENON_ASSIGN_OR_RETURN(factors[i],
                             FixedFactor::Of(product / ScaleAt(args, ProductScales::kOutInput,
                                                               s.out_per_feature ? i : 0)));
    }
  }
  return ProductResults(s, args, factors);
}

RowScale RowScale::OfRange(float least, float most) {
  constexpr double kLowest = -128, kHighest = 127;
  const double min = std::min(least, 0.0f), max = std::max(most, 0.0f);
  const auto scale = static_cast<float>((max - min) / (kHighest - kLowest));
  const float inverse = max == min ? 0.0f : static_cast<float>((kHighest - kLowest) / (max - min));
  if (scale == 0 || !std::isfinite(inverse)) return {1, 0, 0};
  // Of the two ends the one that is nearer to 0 is the more exact.
  const double low = min / scale, high = max / scale;
  const double zero = std::abs(kLowest) + std::abs(low) < std::abs(kHighest) + std::abs(high)
                          ? kLowest - low
                          : kHighest - high;
  if (std::isnan(zero)) return {scale, inverse, 0};
  return {scale, inverse, static_cast<int32_t>(std::round(std::clamp(zero, kLowest, kHighest)))};
}

}  // namespace tenon::cpu
