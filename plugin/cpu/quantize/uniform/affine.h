// Uniform quantization: an integer q stands for (q - zero point) * scale. Scale and zero point
// belong to a whole tensor, or to each slice of the tensor along an axis.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string_view>

#include "absl/status/statusor.h"
#include "graph/tensor/shape.h"
#include "plugin/cpu/quantize/quantized_range.h"
#include "plugin/cpu/quantize/quantized_type.h"
#include "plugin/cpu/quantize/slices.h"
#include "plugin/kernels/run_fn.h"

namespace tenon {
class Prepare;  // plugin/kernels/kernel.h
}

namespace tenon::cpu {

// Reads the axis in attribute `name`; -1 stands for no axis. INVALID_ARGUMENT unless the axis is -1
// or a dimension of `shape`.
absl::StatusOr<int> ReadQuantizationAxis(const Prepare& p, std::string_view name,
                                         const Shape& shape);

// Returns the slices of `shape` along `axis`. INVALID_ARGUMENT unless inputs i and i + 1, the
// scales (float) and the zero points (int32), are vectors with one value per slice, or for axis -1
// scalars. Their types are not checked.
absl::StatusOr<Slices> CheckScales(const Prepare& p, int i, const Shape& shape, int axis);

// Returns INVALID_ARGUMENT, with `name`, unless the first `n` scales in input i are all positive.
// NaN is not; infinity is.
absl::Status CheckPositive(const StepArgs& args, int i, int64_t n, std::string_view name);

// The least and the greatest integer of a result. Clamp gives `min` if min > max.
struct QuantizedLimits {
  int32_t min, max;

  int32_t Clamp(int32_t q) const { return std::max(std::min(q, max), min); }
};
// Reads attributes quantization_min_val and quantization_max_val, with `prefix` before their names.
// INVALID_ARGUMENT if int32 does not hold a value. The values are not compared.
absl::StatusOr<QuantizedLimits> ReadQuantizedLimits(const Prepare& p, std::string_view prefix);

// Return scale or zero point number i of input `input`. CheckScales has checked the number of
// elements; the op fixes the type.
inline float ScaleAt(const StepArgs& args, int input, int64_t i) {
  return static_cast<const float*>(args.in[input])[i];
}
inline int32_t ZeroAt(const StepArgs& args, int input, int64_t i) {
  return static_cast<const int32_t*>(args.in[input])[i];
}

// Returns the integer for x, within `limits`. Halves are rounded upwards, and sums with the zero
// point wrap. NaN, and a product of any sign that int32 cannot hold, count as the lowest int32. All
// as in TensorFlow.
inline int32_t AffineQuantize(float x, float inverse_scale, int32_t zero,
                              const QuantizedLimits& limits) {
  return limits.Clamp(WrappingAdd(TruncateToInt32(std::floor(x * inverse_scale + 0.5f)), zero));
}

// A positive factor in fixed point: 31 bits and a shift. Products are rounded once, halves upwards,
// and are limited to int32.
class FixedFactor {
 public:
  // Returns the nearest factor. INVALID_ARGUMENT unless `factor` is positive and finite. Below
  // 2^-32 it becomes 0; from 2^30 on it becomes the greatest one, 2^30 - 0.5.
  static absl::StatusOr<FixedFactor> Of(double factor);

  // Returns x * factor.
  int32_t operator()(int32_t x) const {
    const int64_t product = (x * int64_t{factor_} + (int64_t{1} << (shift_ - 1))) >> shift_;
    return static_cast<int32_t>(std::clamp<int64_t>(product, INT32_MIN, INT32_MAX));
  }

 private:
  int32_t factor_;
  int shift_;  // in [1, 62]
};

}  // namespace tenon::cpu
