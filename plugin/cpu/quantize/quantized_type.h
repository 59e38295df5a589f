// What the elements of quantized types stand for: integers q of `bits` bits, the lowest of which is
// the least value of a range [min, max] and the highest the greatest.
#pragma once

#include <cstdint>
#include <limits>

#include "graph/tensor/dtype.h"
#include "plugin/cpu/base/element.h"

namespace tenon::cpu {

struct QuantizedType {
  int bits;
  double lowest, highest;

  bool is_signed() const { return lowest < 0; }
  double steps() const { return highest - lowest + 1; }
};
QuantizedType QuantizedTypeOf(DataType type);

// Calls f(element) with the element access of a quantized type; does nothing for others.
template <typename F>
void VisitQuantized(DataType type, F&& f) {
  switch (type) {
    case DataType::kQint8:
      return f(PlainElement<int8_t>());
    case DataType::kQuint8:
      return f(PlainElement<uint8_t>());
    case DataType::kQint16:
      return f(PlainElement<int16_t>());
    case DataType::kQuint16:
      return f(PlainElement<uint16_t>());
    case DataType::kQint32:
      return f(PlainElement<int32_t>());
    default:
      return;
  }
}

// The whole part of x; what int32 cannot hold is its lowest value, as x86 converts it. Elements of
// shorter types take its low bits.
inline int32_t TruncateToInt32(float x) {
  return x >= -0x1p31f && x < 0x1p31f ? static_cast<int32_t>(x)
                                      : std::numeric_limits<int32_t>::min();
}

// --- One value in double precision.

// 0 for what does not fit any type's range many times over.
int64_t QuantizeUnclamped(const QuantizedType& type, float x, float min, float max);
int32_t Quantize(const QuantizedType& type, float x, float min, float max);
float Dequantize(const QuantizedType& type, int32_t q, float min, float max);

// --- Many values in single precision, for which TensorFlow rounds differently.

class Dequantizer {
 public:
  Dequantizer(const QuantizedType& type, float min, float max);
  float operator()(int32_t q) const { return zero_ + static_cast<float>(q) * scale_; }

 private:
  float scale_, zero_;
};

class Quantizer {
 public:
  Quantizer(const QuantizedType& type, float min, float max);
  int32_t operator()(float x) const;

 private:
  float scale_, offset_, lowest_, highest_;
};

}  // namespace tenon::cpu
