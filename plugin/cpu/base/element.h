// Reading and writing single elements of any number type, for kernels that are not worth one
// instantiation per type.
//
// An element access is an object without data: PlainElement, HalfElement or Bfloat16Element. The
// elements may have any alignment. No access checks an index. Thread-safe for disjoint elements.
#pragma once

#include <cmath>
#include <complex>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include "graph/tensor/dtype.h"
#include "graph/tensor/small_float.h"

namespace tenon::cpu {

template <typename T>
inline constexpr bool kIsComplex =
    std::is_same_v<T, std::complex<float>> || std::is_same_v<T, std::complex<double>>;

// Converts between an accumulator and a stored value. A complex value loses its imaginary part on
// the way to a real value; a real value gets the imaginary part 0. A floating-point value must lie
// in the range of an integer target: C++ leaves any other conversion undefined.
template <typename To, typename From>
To ConvertElement(From x) {
  if constexpr (kIsComplex<From> && !kIsComplex<To>) {
    return static_cast<To>(x.real());
  } else if constexpr (kIsComplex<From> && kIsComplex<To>) {
    return To(static_cast<typename To::value_type>(x.real()),
              static_cast<typename To::value_type>(x.imag()));
  } else if constexpr (kIsComplex<To>) {
    return To(static_cast<typename To::value_type>(x), 0);
  } else {
    return static_cast<To>(x);
  }
}

// Returns the conjugate of a complex number, and any other number unchanged.
template <typename T>
T Conjugate(T x) {
  if constexpr (kIsComplex<T>) return std::conj(x);
  return x;
}

// Access to elements that lie in memory as the C++ type T.
template <typename T>
struct PlainElement {
  // The type of a computation that is to be as exact as the element type and no more. Of halves:
  // float.
  using Native = T;
  // The type of a sum: never less exact than the element type. Sums of integers wrap around, which
  // unsigned arithmetic does in any width.
  using Wide = std::conditional_t<std::is_integral_v<T>, uint64_t,
                                  std::conditional_t<kIsComplex<T>, std::complex<double>, double>>;
  // The type of a comparison: holds every value of a real element type, in the same order. Of no
  // use for complex types, which have no order.
  using Ordered = std::conditional_t<std::is_integral_v<T> && std::is_signed_v<T>, int64_t, Wide>;
  // The least and the greatest finite value. Real types only.
  static Native Lowest() { return std::numeric_limits<T>::lowest(); }
  static Native Highest() { return std::numeric_limits<T>::max(); }

  // Returns element i of `data` as an A.
  template <typename A>
  A As(const void* data, int64_t i) const {
    T x;
    memcpy(&x, static_cast<const char*>(data) + i * sizeof(T), sizeof(T));
    return ConvertElement<A>(x);
  }
  // Stores `value` as element i of `data`.
  template <typename A>
  void Put(void* data, int64_t i, A value) const {
    const T x = ConvertElement<T>(value);
    memcpy(static_cast<char*>(data) + i * sizeof(T), &x, sizeof(T));
  }
};

// The same access to elements of 16 bits, which are read and computed as float. Put rounds a double
// twice: to float, then to the element type.
template <float (*kWiden)(uint16_t), uint16_t (*kNarrow)(float), uint16_t kHighest>
struct ShortFloatElement {
  using Native = float;
  using Wide = double;
  using Ordered = double;
  static Native Lowest() { return -Highest(); }
  static Native Highest() { return kWiden(kHighest); }

  template <typename A>
  A As(const void* data, int64_t i) const {
    return ConvertElement<A>(kWiden(PlainElement<uint16_t>().As<uint16_t>(data, i)));
  }
  template <typename A>
  void Put(void* data, int64_t i, A value) const {
    PlainElement<uint16_t>().Put(data, i, kNarrow(ConvertElement<float>(value)));
  }
};

using HalfElement = ShortFloatElement<&FloatFromHalf, &HalfFromFloat, 0x7bff>;
using Bfloat16Element = ShortFloatElement<&FloatFromBfloat16, &Bfloat16FromFloat, 0x7f7f>;

// Calls f(element) for half, bfloat16, float and double. Does nothing for any other type.
template <typename F>
void VisitFloat(DataType type, F&& f) {
  switch (type) {
    case DataType::kFloat:
      return f(PlainElement<float>());
    case DataType::kDouble:
      return f(PlainElement<double>());
    case DataType::kHalf:
      return f(HalfElement());
    case DataType::kBfloat16:
      return f(Bfloat16Element());
    default:
      return;
  }
}

// Calls f(element) for the integers of 8 to 64 bits, qint8, quint8 and qint32 among them. Does
// nothing for any other type.
template <typename F>
void VisitInteger(DataType type, F&& f) {
  switch (type) {
    case DataType::kInt8:
    case DataType::kQint8:
      return f(PlainElement<int8_t>());
    case DataType::kUint8:
    case DataType::kQuint8:
      return f(PlainElement<uint8_t>());
    case DataType::kInt16:
      return f(PlainElement<int16_t>());
    case DataType::kUint16:
      return f(PlainElement<uint16_t>());
    case DataType::kInt32:
    case DataType::kQint32:
      return f(PlainElement<int32_t>());
    case DataType::kUint32:
      return f(PlainElement<uint32_t>());
    case DataType::kInt64:
      return f(PlainElement<int64_t>());
    case DataType::kUint64:
      return f(PlainElement<uint64_t>());
    default:
      return;
  }
}

// Calls f(element) for complex64 and complex128. Does nothing for any other type.
template <typename F>
void VisitComplex(DataType type, F&& f) {
  switch (type) {
    case DataType::kComplex64:
      return f(PlainElement<std::complex<float>>());
    case DataType::kComplex128:
      return f(PlainElement<std::complex<double>>());
    default:
      return;
  }
}

// Calls f(element) for the types of the kind of A: floating-point, integer or complex types. Does
// nothing for any other type.
template <typename A, typename F>
void VisitKindOf(DataType type, F&& f) {
  if constexpr (kIsComplex<A>) {
    VisitComplex(type, f);
  } else if constexpr (std::is_integral_v<A>) {
    VisitInteger(type, f);
  } else {
    VisitFloat(type, f);
  }
}

// Calls f(element) with the element access of `type`: of all number types, and of qint8, quint8 and
// qint32 as integers. Does nothing for any other type, qint16, quint16 and float8 among them.
template <typename F>
void VisitElement(DataType type, F&& f) {
  VisitFloat(type, f);
  VisitInteger(type, f);
  VisitComplex(type, f);
}

// Calls f(element, A()) for a real number type. A is the accumulator, which holds every value of
// the element type: double for floating-point types, uint64_t for uint64, int64_t for all other
// integers. Put() stores an integer modulo 2^bits, as if a sum had wrapped in the element type; a
// sum of int64 elements must not itself overflow. Does nothing for any other type, bool and the
// quantized types among them.
template <typename F>
void VisitReal(DataType type, F&& f) {
  switch (type) {
    case DataType::kInt8:
      return f(PlainElement<int8_t>(), int64_t());
    case DataType::kUint8:
      return f(PlainElement<uint8_t>(), int64_t());
    case DataType::kInt16:
      return f(PlainElement<int16_t>(), int64_t());
    case DataType::kUint16:
      return f(PlainElement<uint16_t>(), int64_t());
    case DataType::kInt32:
      return f(PlainElement<int32_t>(), int64_t());
    case DataType::kUint32:
      return f(PlainElement<uint32_t>(), int64_t());
    case DataType::kInt64:
      return f(PlainElement<int64_t>(), int64_t());
    case DataType::kUint64:
      return f(PlainElement<uint64_t>(), uint64_t());
    default:
      return VisitFloat(type, [&](auto element) { f(element, double()); });
  }
}

}  // namespace tenon::cpu
