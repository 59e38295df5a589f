// Conversions of types that computation only meets in Cast: complex, float8 and 4-bit integers, to
// and from the type that stands for them.
#include <algorithm>
#include <cmath>
#include <complex>
#include <cstring>

#include "plugin/cpu/elementwise/element_op.h"

namespace tenon::cpu {
namespace {

// The formats of 8 bits: 1 sign bit, `mantissa` bits, the rest exponent. With `infinite` the
// highest exponent is IEEE's; else only all ones is NaN, or (`unsigned_zero`) only what would be
// -0.
struct Float8 {
  int mantissa, bias;
  bool infinite, unsigned_zero;
};
constexpr Float8 FormatOf(DataType t) {
  switch (t) {
    case DataType::kFloat8E5m2:
      return {2, 15, true, false};
    case DataType::kFloat8E4m3fn:
      return {3, 7, false, false};
    case DataType::kFloat8E4m3fnuz:
      return {3, 8, false, true};
    case DataType::kFloat8E4m3b11fnuz:
      return {3, 11, false, true};
    default:
      return {2, 16, false, true};
  }
}

float Decode(Float8 f, uint8_t bits) {
  const int exponent_bits = 7 - f.mantissa;
  const int exponent = (bits & 0x7f) >> f.mantissa, mantissa = bits & ((1 << f.mantissa) - 1);
  const float sign = bits & 0x80 ? -1.0f : 1.0f;
  if (f.unsigned_zero ? bits == 0x80 : !f.infinite && (bits & 0x7f) == 0x7f) return NAN;
  if (f.infinite && exponent == (1 << exponent_bits) - 1)
    return mantissa != 0 ? NAN : sign * INFINITY;
  const int significand = exponent == 0 ? mantissa : mantissa | 1 << f.mantissa;
  return sign * std::ldexp(static_cast<float>(significand),
                           (exponent == 0 ? 1 : exponent) - f.bias - f.mantissa);
}

// Rounds half to even; what is too large becomes infinity, or NaN where there is none.
uint8_t Encode(Float8 f, float x) {
  const int exponent_bits = 7 - f.mantissa;
  const uint8_t nan = f.unsigned_zero ? 0x80 : 0x7f;
  if (std::isnan(x)) return nan;
  const uint8_t sign = std::signbit(x) ? 0x80 : 0;
  const double magnitude = std::abs(static_cast<double>(x));
  const int top = f.infinite ? (1 << exponent_bits) - 1
                             : 1 << exponent_bits;  // the first exponent that no number has
  const uint8_t overflow = f.infinite ? static_cast<uint8_t>(sign | top << f.mantissa) : nan;
  if (std::isinf(x)) return overflow;
  int exponent = 0;
  std::frexp(magnitude, &exponent);
  exponent = std::max(exponent - 1, 1 - f.bias);
  const double quantum = std::ldexp(1.0, exponent - f.mantissa);
  int64_t steps = static_cast<int64_t>(std::nearbyint(std::min(magnitude / quantum, 1e9)));
  if (steps >> (f.mantissa + 1) != 0) {
    steps >>= 1;  // rounded up to the next power of two: even
    ++exponent;
  }
  const bool normal = steps >> f.mantissa != 0;
  const int biased = normal ? exponent + f.bias : 0;
  const int bits = biased << f.mantissa | static_cast<int>(steps & ((1 << f.mantissa) - 1));
  if (biased >= top || (!f.infinite && !f.unsigned_zero && bits >= 0x7f)) return overflow;
  if (bits == 0 && f.unsigned_zero) return 0;
  return static_cast<uint8_t>(sign | bits);
}

template <DataType kType>
void FromFloat8(const void* const* in, void* out, int64_t n, float) {
  for (int64_t i = 0; i < n; ++i)
    static_cast<float*>(out)[i] = Decode(FormatOf(kType), static_cast<const uint8_t*>(in[0])[i]);
}
template <DataType kType>
void ToFloat8(const void* const* in, void* out, int64_t n, float) {
  for (int64_t i = 0; i < n; ++i)
    static_cast<uint8_t*>(out)[i] = Encode(FormatOf(kType), static_cast<const float*>(in[0])[i]);
}

template <typename T>
void RealPart(const void* const* in, void* out, int64_t n, float) {
  for (int64_t i = 0; i < n; ++i) static_cast<T*>(out)[i] = static_cast<const T*>(in[0])[2 * i];
}
template <typename T>
void WithZero(const void* const* in, void* out, int64_t n, float) {
  for (int64_t i = 0; i < n; ++i)
    static_cast<std::complex<T>*>(out)[i] = static_cast<const T*>(in[0])[i];
}
template <typename From, typename To>
void BetweenComplex(const void* const* in, void* out, int64_t n, float) {
  for (int64_t i = 0; i < 2 * n; ++i)
    static_cast<To*>(out)[i] = static_cast<To>(static_cast<const From*>(in[0])[i]);
}

// One to a byte; the value wraps.
void ToInt4(const void* const* in, void* out, int64_t n, float) {
  for (int64_t i = 0; i < n; ++i) {
    const int low = static_cast<const uint8_t*>(in[0])[i] & 15;
    static_cast<int8_t*>(out)[i] = static_cast<int8_t>(low >= 8 ? low - 16 : low);
  }
}
void ToUint4(const void* const* in, void* out, int64_t n, float) {
  for (int64_t i = 0; i < n; ++i)
    static_cast<uint8_t*>(out)[i] = static_cast<const uint8_t*>(in[0])[i] & 15;
}

ElementLoop FindFloat8(DataType from, DataType to) {
#define TENON_FLOAT8(NAME)                                                                  \
  if (from == DataType::NAME && to == DataType::kFloat) return &FromFloat8<DataType::NAME>; \
  if (to == DataType::NAME && from == DataType::kFloat) return &ToFloat8<DataType::NAME>;
  TENON_FLOAT8(kFloat8E5m2)
  TENON_FLOAT8(kFloat8E4m3fn)
  TENON_FLOAT8(kFloat8E4m3fnuz)
  TENON_FLOAT8(kFloat8E4m3b11fnuz)
  TENON_FLOAT8(kFloat8E5m2fnuz)
  return nullptr;
}

}  // namespace

DataType CastHub(DataType t) {
  switch (t) {
    case DataType::kHalf:
    case DataType::kBfloat16:
    case DataType::kComplex64:
    case DataType::kFloat8E5m2:
    case DataType::kFloat8E4m3fn:
    case DataType::kFloat8E4m3fnuz:
    case DataType::kFloat8E4m3b11fnuz:
    case DataType::kFloat8E5m2fnuz:
      return DataType::kFloat;
    case DataType::kComplex128:
      return DataType::kDouble;
    case DataType::kInt4:
    case DataType::kQint8:
      return DataType::kInt8;
    case DataType::kUint4:
    case DataType::kQuint8:
      return DataType::kUint8;
    case DataType::kQint16:
      return DataType::kInt16;
    case DataType::kQuint16:
      return DataType::kUint16;
    case DataType::kQint32:
      return DataType::kInt32;
    default:
      return t;
  }
}

ElementLoop FindSpecialCast(DataType from, DataType to) {
  using D = DataType;
  if (ElementLoop loop = FindFloat8(from, to)) return loop;
  if (from == D::kComplex64 && to == D::kFloat) return &RealPart<float>;
  if (from == D::kComplex128 && to == D::kDouble) return &RealPart<double>;
  if (from == D::kFloat && to == D::kComplex64) return &WithZero<float>;
  if (from == D::kDouble && to == D::kComplex128) return &WithZero<double>;
  if (from == D::kComplex64 && to == D::kComplex128) return &BetweenComplex<float, double>;
  if (from == D::kComplex128 && to == D::kComplex64) return &BetweenComplex<double, float>;
  if (from == D::kInt8 && to == D::kInt4) return &ToInt4;
  if (from == D::kUint8 && to == D::kUint4) return &ToUint4;
  // Quantized integers and stored 4-bit ones have the bytes of plain ones.
  const bool same = (CastHub(from) == to && from != to) || (CastHub(to) == from && from != to);
  return same && DataTypeSize(from) == DataTypeSize(to) ? FindCastLoop(CastHub(from), CastHub(from))
                                                        : nullptr;
}

}  // namespace tenon::cpu
