// Scales, zero points and limits of uniform quantization, and factors in fixed point.
#include "plugin/cpu/quantize/uniform/affine.h"

#include "absl/strings/str_cat.h"
#include "graph/base/status_macros.h"
#include "plugin/cpu/base/kernel_util.h"
#include "plugin/kernels/kernel.h"

namespace tenon::cpu {

absl::StatusOr<int> ReadQuantizationAxis(const Prepare& p, std::string_view name,
                                         const Shape& shape) {
  TENON_ASSIGN_OR_RETURN(const int64_t axis, p.AttrInt(name));
  if (axis >= -1 && axis < shape.rank()) return static_cast<int>(axis);
  return p.Invalid(absl::StrCat("attribute '", name, "' must be -1 or a dimension of ",
                                shape.ToString(), ", not ", axis));
}

absl::StatusOr<Slices> CheckScales(const Prepare& p, int i, const Shape& shape, int axis) {
  Slices slices{1, 1, shape.num_elements()};
  if (axis >= 0) {
    const AxisSplit split = SplitAt(shape, axis);
    slices = {split.outer, split.size, split.inner};
  }
  const Shape want = axis < 0 ? Shape() : Shape({slices.count});
  TENON_RETURN_IF_ERROR(CheckInputShape(p, i, want));
  TENON_RETURN_IF_ERROR(CheckInputShape(p, i + 1, want));
  return slices;
}

absl::Status CheckPositive(const StepArgs& args, int i, int64_t n, std::string_view name) {
  for (int64_t k = 0; k < n; ++k) {
    if (ScaleAt(args, i, k) > 0) continue;
    return absl::InvalidArgumentError(
        absl::StrCat(name, " must be positive, not ", ScaleAt(args, i, k), " at ", k));
  }
  return absl::OkStatus();
}

absl::StatusOr<QuantizedLimits> ReadQuantizedLimits(const Prepare& p, std::string_view prefix) {
  const auto read = [&](std::string_view end) -> absl::StatusOr<int32_t> {
    const std::string name = absl::StrCat(prefix, "quantization_", end);
    TENON_ASSIGN_OR_RETURN(const int64_t value, p.AttrInt(name));
    if (value >= INT32_MIN && value <= INT32_MAX) return static_cast<int32_t>(value);
    return p.Invalid(absl::StrCat("attribute '", name, "' is too large: ", value));
  };
  QuantizedLimits limits;
  TENON_ASSIGN_OR_RETURN(limits.min, read("min_val"));
  TENON_ASSIGN_OR_RETURN(limits.max, read("max_val"));
  return limits;
}

absl::StatusOr<FixedFactor> FixedFactor::Of(double factor) {
  if (!std::isfinite(factor) || factor <= 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("the scales' ratio must be positive and finite, not ", factor));
  }
  int exponent;
  // frexp gives a fraction in [0.5, 1): 31 bits hold it, but for one that rounds up to 1.
  auto fixed = static_cast<int64_t>(std::round(std::frexp(factor, &exponent) * 0x1p31));
  if (fixed == int64_t{1} << 31) {
    fixed /= 2;
    ++exponent;
  }
  // The shift would exceed 62 bits of the product. An int32 times such a factor rounds to 0 anyway.
  if (exponent < -31) exponent = fixed = 0;
  // The shift must stay positive: the product's rounding takes a bit below it.
  if (exponent > 30) {
    exponent = 30;
    fixed = INT32_MAX;
  }
  FixedFactor result;
  result.factor_ = static_cast<int32_t>(fixed);
  result.shift_ = 31 - exponent;
  return result;
}

}  // namespace tenon::cpu
