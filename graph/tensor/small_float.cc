// Formats of at most 16 bits, described by the widths of exponent and mantissa, the bias, and what
// the largest codes mean. Every value is exact in double, so that encoding rounds once.

#include "graph/tensor/small_float.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tenon {
namespace {

using Special = SmallFloat::Special;

// Bits of the largest finite magnitude.
uint32_t LargestBits(const SmallFloat& f) {
  const uint32_t all = (uint32_t{1} << (f.exponent_bits + f.mantissa_bits)) - 1;
  if (f.special == Special::kIeee) return all - (uint32_t{1} << f.mantissa_bits);
  return f.special == Special::kNanOnly ? all - 1 : all;
}

uint32_t NanBits(const SmallFloat& f) {
  const uint32_t all = (uint32_t{1} << (f.exponent_bits + f.mantissa_bits)) - 1;
  switch (f.special) {
    case Special::kIeee:
      return LargestBits(f) + 1 + (uint32_t{1} << (f.mantissa_bits - 1));  // quiet
    case Special::kNanOnly:
      return all;
    case Special::kFnuz:
      return uint32_t{1} << (f.bits() - 1);
    case Special::kFinite:
      return 0;
  }
  return 0;
}

uint32_t OverflowBits(const SmallFloat& f) {
  if (f.special == Special::kIeee) return LargestBits(f) + 1;
  return f.special == Special::kFinite ? LargestBits(f) : NanBits(f);
}

}  // namespace

double SmallFloat::Decode(uint32_t bits) const {
  const uint32_t magnitude = bits & ((uint32_t{1} << (exponent_bits + mantissa_bits)) - 1);
  const bool negative = (bits >> (exponent_bits + mantissa_bits) & 1) != 0;
  if (special == Special::kFnuz && negative && magnitude == 0) {
    return std::numeric_limits<double>::quiet_NaN();
  }
  if (special != Special::kFinite && magnitude > LargestBits(*this)) {
    const bool infinite = special == Special::kIeee && magnitude == LargestBits(*this) + 1;
    if (!infinite) return std::numeric_limits<double>::quiet_NaN();
    return negative ? -HUGE_VAL : HUGE_VAL;
  }
  const int exponent = static_cast<int>(magnitude >> mantissa_bits);
  const double mantissa = magnitude & ((uint32_t{1} << mantissa_bits) - 1);
  // Exponent 0 is for denormal numbers: no leading 1, and the scale of exponent 1.
  const double value = exponent == 0 ? std::ldexp(mantissa, 1 - bias - mantissa_bits)
                                     : std::ldexp(mantissa + std::ldexp(1.0, mantissa_bits),
                                                  exponent - bias - mantissa_bits);
  return negative ? -value : value;
}

uint32_t SmallFloat::Encode(double value) const {
  if (std::isnan(value)) return NanBits(*this);
  const uint32_t sign = std::signbit(value) ? uint32_t{1} << (bits() - 1) : 0;
  const double magnitude = std::fabs(value);
  uint32_t result = 0;
  if (std::isinf(magnitude)) {
    result = OverflowBits(*this);
  } else if (magnitude > 0) {
    // In units of the last place at this magnitude; rounding may carry into the exponent, which is
    // what it should do.
    const int exponent = std::max(std::ilogb(magnitude), 1 - bias);
    const double units = std::nearbyint(std::ldexp(magnitude, mantissa_bits - exponent));
    // The leading 1 of a normal number's mantissa adds 1 to the exponent: hence the - 1.
    const double steps = units + std::ldexp(exponent + bias - 1, mantissa_bits);
    result = steps > LargestBits(*this) ? OverflowBits(*this) : static_cast<uint32_t>(steps);
  }
  // There is no negative zero, and its code is the NaN.
  if (special == Special::kFnuz && (result == 0 || result == NanBits(*this))) return result;
  return result | sign;
}

std::optional<SmallFloat> SmallFloatOf(DataType t) {
  switch (t) {
    case DataType::kHalf:
      return SmallFloat{5, 10, 15, Special::kIeee};
    case DataType::kBfloat16:
      return SmallFloat{8, 7, 127, Special::kIeee};
    case DataType::kFloat8E5m2:
      return SmallFloat{5, 2, 15, Special::kIeee};
    case DataType::kFloat8E4m3fn:
      return SmallFloat{4, 3, 7, Special::kNanOnly};
    case DataType::kFloat8E4m3fnuz:
      return SmallFloat{4, 3, 8, Special::kFnuz};
    case DataType::kFloat8E4m3b11fnuz:
      return SmallFloat{4, 3, 11, Special::kFnuz};
    case DataType::kFloat8E5m2fnuz:
      return SmallFloat{5, 2, 16, Special::kFnuz};
    case DataType::kFloat4E2m1fn:
      return SmallFloat{2, 1, 1, Special::kFinite};
    default:
      return std::nullopt;
  }
}

}  // namespace tenon
