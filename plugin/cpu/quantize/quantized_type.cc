// TensorFlow's two formulas between quantized integers and numbers: one value at a time in double,
// and many values in single precision.
#include "plugin/cpu/quantize/quantized_type.h"

#include <algorithm>
#include <cmath>

namespace tenon::cpu {

QuantizedType QuantizedTypeOf(DataType type) {
  QuantizedType result{0, 0, 0};
  VisitQuantized(type, [&]<typename T>(PlainElement<T>) {
    result = {8 * static_cast<int>(sizeof(T)), static_cast<double>(std::numeric_limits<T>::min()),
              static_cast<double>(std::numeric_limits<T>::max())};
  });
  return result;
}

int64_t QuantizeUnclamped(const QuantizedType& type, float x, float min, float max) {
  if (min == max) return static_cast<int64_t>(type.lowest);
  // TensorFlow's formula, with each rounding where TensorFlow has it: max - min in float, the rest
  // in double, x and min rounded to steps separately.
  const double range = static_cast<double>(max - min) * (type.steps() / (type.steps() - 1));
  const double scale = type.steps() / range;
  const double q = std::round(x * scale) - std::round(min * scale) + type.lowest;
  // The cast of a larger double, or of NaN, to int64 is undefined.
  constexpr double kFar = 0x1p62;
  return q > -kFar && q < kFar ? static_cast<int64_t>(q) : 0;
}

int32_t Quantize(const QuantizedType& type, float x, float min, float max) {
  return static_cast<int32_t>(std::clamp(QuantizeUnclamped(type, x, min, max),
                                         static_cast<int64_t>(type.lowest),
                                         static_cast<int64_t>(type.highest)));
}

float Dequantize(const QuantizedType& type, int32_t q, float min, float max) {
  // The range has no width: every integer stands for its one number.
  if (min == max) return min;
  const double range = static_cast<double>(max - min) * (type.steps() / (type.steps() - 1));
  const double scale = range / type.steps();
  // The least value is rounded to a whole number of steps, so that 0 is one of the values.
  const auto step = static_cast<float>(scale);
  const double least = static_cast<double>(std::round(min / step)) * step;
  return static_cast<float>(least + (q - type.lowest) * scale);
}

Dequantizer::Dequantizer(const QuantizedType& type, float min, float max)
    : scale_(static_cast<float>((max - min) / (type.steps() - 1))) {
  const float least = max == min ? min : std::round(min / scale_) * scale_;
  // What integer 0 stands for: the call is then one multiplication and one addition.
  zero_ = least - static_cast<float>(type.lowest) * scale_;
}

Quantizer::Quantizer(const QuantizedType& type, float min, float max)
    : scale_(max == min ? 0.0f : static_cast<float>((type.steps() - 1) / (max - min))),
      offset_(std::round(min * scale_) - static_cast<float>(type.lowest)),
      lowest_(static_cast<float>(type.lowest)),
      // The highest float that int32 can hold.
      highest_(std::min(static_cast<float>(type.highest), 2147483520.0f)) {}

int32_t Quantizer::operator()(float x) const {
  return TruncateToInt32(std::min(std::max(std::round(x * scale_) - offset_, lowest_), highest_));
}

}  // namespace tenon::cpu
