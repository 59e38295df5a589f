// Floating-point formats of up to 16 bits, described by numbers rather than by types.
#pragma once

#include <cstdint>
#include <optional>

#include "graph/tensor/dtype.h"

namespace tenon {

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
  double Decode(uint32_t bits) const;
  // To nearest, ties to even. What is too large becomes infinity, or NaN or the largest number
  // where there is none.
  uint32_t Encode(double value) const;
};

// The format of half, bfloat16, float8* and float4; nullopt for any other type.
std::optional<SmallFloat> SmallFloatOf(DataType t);

}  // namespace tenon
