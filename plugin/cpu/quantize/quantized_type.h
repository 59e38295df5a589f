// The quantized types and the values that their integers stand for, in the ranges that TensorFlow's
// ops take as two inputs.
//
// An integer q of `bits` bits stands for a real number in [min, max]: the lowest q for min, the
// highest q for max, up to rounding. TensorFlow has two formulas for the numbers between, which
// round differently. Both are here, and a kernel takes the formula of TensorFlow's kernel. All
// functions are thread-safe.
#pragma once

#include <cstdint>
#include <limits>

#include "graph/tensor/dtype.h"
#include "plugin/cpu/base/element.h"

namespace tenon::cpu {

struct QuantizedType {
  int bits;
  double lowest, highest;  // integers
  bool is_signed() const { return lowest < 0; }
  double steps() const { return highest - lowest + 1; }  // the number of integers: 2^bits
};

// Returns the facts of qint8, quint8, qint16, quint16 or qint32; zeros for any other type.
QuantizedType QuantizedTypeOf(DataType type);

// Calls f(element) with the element access of a quantized type (base/element.h). Does nothing for
// any other type.
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

// Returns x without its fraction. NaN, and numbers that int32 cannot hold, become the lowest int32,
// as x86's instruction converts them. A caller with a shorter element type stores the low bits.
inline int32_t TruncateToInt32(float x) {
  return x >= -0x1p31f && x < 0x1p31f ? static_cast<int32_t>(x)
                                      : std::numeric_limits<int32_t>::min();
}

// If min and max are finite and equal, all functions below turn each finite x into the lowest
// integer, and each integer into min.

// --- One value in double precision.

// Returns the integer for x, not limited to the type's integers. x and min are rounded to whole
// numbers of steps separately. If min != max: 0 if x is NaN or the integer is beyond 2^62 in
// magnitude.
int64_t QuantizeUnclamped(const QuantizedType& type, float x, float min, float max);
// QuantizeUnclamped, limited to the type's integers. A number beyond 2^62 steps thus gives 0.
int32_t Quantize(const QuantizedType& type, float x, float min, float max);
// Returns the number that q stands for. min is first rounded to a whole number of steps, so that
// one integer stands for 0.
float Dequantize(const QuantizedType& type, int32_t q, float min, float max);

// --- Many values in single precision: one multiplication and one addition each, no division.

// Turns integers into the numbers that they stand for. min is rounded as in Dequantize.
class Dequantizer {
 public:
  Dequantizer(const QuantizedType& type, float min, float max);
  float operator()(int32_t q) const { return zero_ + static_cast<float>(q) * scale_; }

 private:
  float scale_, zero_;
};

// Turns numbers into integers, limited to the type's integers. x and min are rounded to whole
// numbers of steps separately, in single precision. NaN becomes the lowest int32, of which a
// shorter type stores the low bits: 0. Of qint32, the greatest result is 2147483520, the greatest
// float below 2^31.
class Quantizer {
 public:
  Quantizer(const QuantizedType& type, float min, float max);
  int32_t operator()(float x) const;

 private:
  float scale_, offset_, lowest_, highest_;
};

}  // namespace tenon::cpu
