// Conversions of types that computation only meets in Cast: complex, float8 and 4-bit integers, to
// and from the type that stands for them.
#include <complex>
#include <cstring>

#include "graph/tensor/small_float.h"
#include "plugin/cpu/elementwise/loops/element_op.h"

namespace tenon::cpu {
namespace {

template <DataType kType>
void FromFloat8(const void* const* in, void* out, int64_t n, float) {
  const SmallFloat format = *SmallFloatOf(kType);
  const auto* from = static_cast<const uint8_t*>(in[0]);
  for (int64_t i = 0; i < n; ++i) static_cast<double*>(out)[i] = format.Decode(from[i]);
}
template <DataType kType>
void ToFloat8(const void* const* in, void* out, int64_t n, float) {
  const SmallFloat format = *SmallFloatOf(kType);
  const auto* from = static_cast<const double*>(in[0]);
  for (int64_t i = 0; i < n; ++i)
    static_cast<uint8_t*>(out)[i] = static_cast<uint8_t>(format.Encode(from[i]));
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
  // A complex number is two reals in memory.
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

// Clears the lowest bits of each significand; of a complex number (kParts 2) the real part's.
template <typename T, typename Bits, int kLowBits, int kParts>
void ClearLowBits(const void* const* in, void* out, int64_t n, float) {
  for (int64_t i = 0; i < n; ++i) {
    Bits bits;
    std::memcpy(&bits, static_cast<const T*>(in[0]) + kParts * i, sizeof(bits));
    bits &= ~((Bits{1} << kLowBits) - 1);
    std::memcpy(static_cast<T*>(out) + i, &bits, sizeof(bits));
  }
}

ElementLoop FindFloat8(DataType from, DataType to) {
#define TENON_FLOAT8(NAME)                                                                   \
  if (from == DataType::NAME && to == DataType::kDouble) return &FromFloat8<DataType::NAME>; \
  if (to == DataType::NAME && from == DataType::kDouble) return &ToFloat8<DataType::NAME>;
  TENON_FLOAT8(kFloat8E5m2)
  TENON_FLOAT8(kFloat8E4m3fn)
  TENON_FLOAT8(kFloat8E4m3fnuz)
  TENON_FLOAT8(kFloat8E4m3b11fnuz)
  TENON_FLOAT8(kFloat8E5m2fnuz)
  return nullptr;
}

}  // namespace

// Each special type converts to and from one plain type, its hub: the number of loops grows with
// the types, not with their pairs.
DataType CastHub(DataType t) {
  switch (t) {
    case DataType::kHalf:
    case DataType::kBfloat16:
    case DataType::kComplex64:
      return DataType::kFloat;
    case DataType::kComplex128:
    case DataType::kFloat8E5m2:
    case DataType::kFloat8E4m3fn:
    case DataType::kFloat8E4m3fnuz:
    case DataType::kFloat8E4m3b11fnuz:
    case DataType::kFloat8E5m2fnuz:
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

ElementLoop FindTruncation(DataType from, DataType to) {
  using D = DataType;
  // Stored bits of each significand. Half has the same number wherever it comes from, although
  // double is converted by way of float.
  constexpr int kFloatBits = 23, kDoubleBits = 52, kHalfBits = 10, kBfloat16Bits = 7;
  if (to == D::kHalf) {
    if (from == D::kFloat) return &ClearLowBits<float, uint32_t, kFloatBits - kHalfBits, 1>;
    if (from == D::kComplex64) return &ClearLowBits<float, uint32_t, kFloatBits - kHalfBits, 2>;
    if (from == D::kDouble) return &ClearLowBits<double, uint64_t, kDoubleBits - kHalfBits, 1>;
    if (from == D::kComplex128) return &ClearLowBits<double, uint64_t, kDoubleBits - kHalfBits, 2>;
  }
  if (to == D::kBfloat16 && from == D::kFloat)
    return &ClearLowBits<float, uint32_t, kFloatBits - kBfloat16Bits, 1>;
  if (to == D::kFloat) {
    if (from == D::kDouble) return &ClearLowBits<double, uint64_t, kDoubleBits - kFloatBits, 1>;
    if (from == D::kComplex128) return &ClearLowBits<double, uint64_t, kDoubleBits - kFloatBits, 2>;
  }
  return nullptr;
}

}  // namespace tenon::cpu
