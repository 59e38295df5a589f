// Floating-point formats of up to 16 bits: described by numbers rather than by types, and half and
// bfloat16 for loops.
#pragma once

#include <cstdint>
#include <optional>

#include "graph/tensor/dtype.h"

namespace tenon {

// A format as numbers: from the highest bit on a sign, an exponent and a mantissa. An exponent of 0
// stands for denormals. Encoded values lie in the lowest bits() bits. Pure and thread-safe.
struct SmallFloat {
  enum class Special : uint8_t {
    kIeee,     // infinities and NaNs in the highest exponent
    kNanOnly,  // "fn": no infinity, NaN is all ones
    kFnuz,     // "fnuz": no infinity, no negative zero, NaN is the sign bit alone
    kFinite,   // neither infinity nor NaN
  };
  int exponent_bits;
  int mantissa_bits;
  int bias;
  Special special;

  int bits() const { return 1 + exponent_bits + mantissa_bits; }
  // Ignores bits above bits(). Exact: a double holds every value of these formats.
  double Decode(uint32_t bits) const;
  // Rounds to nearest, ties to even. What is too large becomes infinity; NaN where the format has
  // no infinity; the largest number where it has neither. A NaN becomes a quiet NaN without
  // payload, of sign 0 unless kFnuz, or 0 where the format has no NaN.
  uint32_t Encode(double value) const;
};

// The format of half, bfloat16, float8* and float4; nullopt for any other type, and for references.
std::optional<SmallFloat> SmallFloatOf(DataType t);

// Half and bfloat16 to float: exact; a NaN keeps its sign and payload. From float: to nearest, ties
// to even; what is too large becomes infinity; a NaN becomes a quiet NaN without payload, for half
// with its sign, for bfloat16 without. These functions mean the same whether the processor flushes
// denormals or not: none of their steps meets a float denormal that matters. They have no branches,
// so that loops over them become vector code. They call no function, not even std::bit_cast:
// sources for several instruction sets would share the one body of such a function.
[[gnu::always_inline]] inline float FloatFromHalf(uint16_t half) {
  constexpr uint32_t kOne = 1u << 23;  // of the exponent
  // The exponent moves by 112; that of infinities and NaN by another 112. Denormals are read as
  // 2^-14 * (1 + mantissa) and lose the 1 again.
  const uint32_t magnitude = static_cast<uint32_t>(half & 0x7fff) << 13;
  const uint32_t exponent = magnitude & 0x0f800000;
  const float normal = __builtin_bit_cast(float, magnitude + 112 * kOne);
  const float special = __builtin_bit_cast(float, magnitude + 224 * kOne);
  const float denormal =
      __builtin_bit_cast(float, magnitude + 113 * kOne) - __builtin_bit_cast(float, 113 * kOne);
  const float f = exponent == 0 ? denormal : (exponent == 0x0f800000 ? special : normal);
  return __builtin_bit_cast(
      float, __builtin_bit_cast(uint32_t, f) | static_cast<uint32_t>(half & 0x8000) << 16);
}

[[gnu::always_inline]] inline uint16_t HalfFromFloat(float f) {
  const uint32_t all = __builtin_bit_cast(uint32_t, f);
  const uint32_t bits = all & 0x7fffffff, sign = (all >> 16) & 0x8000, odd = (bits >> 13) & 1;
  const uint32_t normal = (bits - (112u << 23) + 0xfff + odd) >> 13;
  // Adding 0.5 leaves the denormal's bits, rounded, at the low end.
  const uint32_t denormal = __builtin_bit_cast(uint32_t, __builtin_bit_cast(float, bits) + 0.5f) -
                            __builtin_bit_cast(uint32_t, 0.5f);
  const uint32_t special = bits > 0x7f800000 ? 0x7e00 : 0x7c00;
  const uint32_t r = bits >= 0x47800000 ? special : (bits < 0x38800000 ? denormal : normal);
  return static_cast<uint16_t>(r | sign);
}

[[gnu::always_inline]] inline float FloatFromBfloat16(uint16_t bfloat16) {
  return __builtin_bit_cast(float, uint32_t{bfloat16} << 16);
}

[[gnu::always_inline]] inline uint16_t Bfloat16FromFloat(float f) {
  const uint32_t bits = __builtin_bit_cast(uint32_t, f);
  const uint32_t rounded = (bits + 0x7fff + ((bits >> 16) & 1)) >> 16;
  return static_cast<uint16_t>((bits & 0x7fffffff) > 0x7f800000 ? 0x7fc0 : rounded);
}

}  // namespace tenon
