// Ranges of quantized tensors: the pairs of inputs and outputs that say which numbers the lowest
// and the highest integer stand for.
#include "plugin/cpu/quantize/quantized_range.h"

#include "absl/strings/str_cat.h"
#include "plugin/kernels/kernel.h"

namespace tenon::cpu {

absl::Status CheckRange(const ValueRange& range, std::string_view name) {
  if (range.max > range.min) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("max_", name, " must be above min_", name, ": ", range.max, " and ", range.min));
}

absl::Status CheckSingleValues(const Prepare& p, int begin, int end) {
  for (int i = begin; i < end; ++i) {
    if (p.input_shape(i).num_elements() == 1) continue;
    return p.Invalid(absl::StrCat("input ", i, " must hold one value, not have the shape ",
                                  p.input_shape(i).ToString()));
  }
  return absl::OkStatus();
}

void SetQuantizedOutput(Prepare& p, const Shape& shape) {
  p.set_output_shape(0, shape);
  // Outputs 1 and 2 are the range.
  p.set_output_shape(1, Shape());
  p.set_output_shape(2, Shape());
}

int32_t ZeroOf(const QuantizedType& type, const ValueRange& range) {
  return static_cast<int32_t>(QuantizeUnclamped(type, 0, range.min, range.max));
}

ValueRange ProductRange(const QuantizedType& a_type, const ValueRange& a,
                        const QuantizedType& b_type, const ValueRange& b) {
  const QuantizedType sums = QuantizedTypeOf(DataType::kQint32);
  const auto step = [](const QuantizedType& type, const ValueRange& range) {
    return (range.max - range.min) / static_cast<float>(type.highest - type.lowest);
  };
  // One unit of an int32 sum of products. The range of the sums is what all of int32 spans in that
  // unit.
  const float product = step(a_type, a) * step(b_type, b);
  return {product * static_cast<float>(sums.lowest), product * static_cast<float>(sums.highest)};
}

}  // namespace tenon::cpu
