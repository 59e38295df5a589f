// Uniform quantization: a value q stands for (q - zero point) * scale, for a whole tensor or for
// each slice of it along an axis.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string_view>

#include "absl/status/statusor.h"
#include "plugin/cpu/quantize/quantized_range.h"
#include "plugin/cpu/quantize/quantized_type.h"
#include "plugin/cpu/quantize/slices.h"
#include "plugin/kernels/kernel.h"

namespace tenon::cpu {

// Reads the axis in attribute `name`; -1 stands for no axis. INVALID_ARGUMENT unless the axis is -1
// or a dimension of `shape`.
absl::StatusOr<int> ReadQuantizationAxis(const Prepare& p, std::string_view name,
                                         const Shape& shape);

// INVALID_ARGUMENT unless inputs i and i + 1, scales and zero points, have a value for each slice
// of `shape` along the axis, or are scalars where it is -1.
absl::StatusOr<Slices> CheckScales(const Prepare& p, int i, const Shape& shape, int axis);

// INVALID_ARGUMENT unless input i, the `n` scales of `name`, are all positive.
absl::Status CheckPositive(const StepArgs& args, int i, int64_t n, std::string_view name);

// The least and the highest value that a result may have.
struct QuantizedLimits {
  int32_t min, max;

  int32_t Clamp(int32_t q) const { return std::max(std::min(q, max), min); }
};
// Attributes `prefix`quantization_min_val and …max_val. INVALID_ARGUMENT if int32 does not hold
// them.
absl::StatusOr<QuantizedLimits> ReadQuantizedLimits(const Prepare& p, std::string_view prefix);

inline float ScaleAt(const StepArgs& args, int input, int64_t i) {
  return static_cast<const float*>(args.in[input])[i];
}
inline int32_t ZeroAt(const StepArgs& args, int input, int64_t i) {
  return static_cast<const int32_t*>(args.in[input])[i];
}

inline int32_t AffineQuantize(float x, float inverse_scale, int32_t zero,
                              const QuantizedLimits& limits) {
  return limits.Clamp(WrappingAdd(TruncateToInt32(std::floor(x * inverse_scale + 0.5f)), zero));
}

// A positive factor as one of 31 bits and a shift; products are rounded once, halves upwards.
class FixedFactor {
 public:
  // INVALID_ARGUMENT unless the factor is positive and finite.
  static absl::StatusOr<FixedFactor> Of(double factor);

  int32_t operator()(int32_t x) const {
    const int64_t product = (x * int64_t{factor_} + (int64_t{1} << (shift_ - 1))) >> shift_;
    return static_cast<int32_t>(std::clamp<int64_t>(product, INT32_MIN, INT32_MAX));
  }

 private:
  int32_t factor_;
  int shift_;  // in [1, 62]
};

}  // namespace tenon::cpu
