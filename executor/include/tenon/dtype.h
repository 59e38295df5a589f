// Types of elements.
#pragma once

#include <cstdint>
#include <ostream>
#include <string>
#include <string_view>
#include <type_traits>

#include "tensorflow/c/tf_datatype.h"

namespace tenon::inline v0 {

// The values are those of TF_DataType.
enum class DType : int {
  kInvalid = 0,
  kFloat = TF_FLOAT,
  kDouble = TF_DOUBLE,
  kInt32 = TF_INT32,
  kUInt8 = TF_UINT8,
  kInt16 = TF_INT16,
  kInt8 = TF_INT8,
  kString = TF_STRING,
  kComplex64 = TF_COMPLEX64,
  kInt64 = TF_INT64,
  kBool = TF_BOOL,
  kQInt8 = TF_QINT8,
  kQUInt8 = TF_QUINT8,
  kQInt32 = TF_QINT32,
  kBFloat16 = TF_BFLOAT16,
  kQInt16 = TF_QINT16,
  kQUInt16 = TF_QUINT16,
  kUInt16 = TF_UINT16,
  kComplex128 = TF_COMPLEX128,
  kHalf = TF_HALF,
  kResource = TF_RESOURCE,
  kVariant = TF_VARIANT,
  kUInt32 = TF_UINT32,
  kUInt64 = TF_UINT64,
  kFloat8E5M2 = TF_FLOAT8_E5M2,
  kFloat8E4M3FN = TF_FLOAT8_E4M3FN,
  kInt4 = TF_INT4,
  kUInt4 = TF_UINT4,
};

// An element of kBFloat16, as bits: the upper half of a float.
struct BFloat16 {
  uint16_t bits = 0;
  friend bool operator==(BFloat16, BFloat16) = default;
};
// An element of kHalf, as bits: an IEEE 754 binary16.
struct Half {
  uint16_t bits = 0;
  friend bool operator==(Half, Half) = default;
};

// The name as NumPy and TensorFlow write it: "float32", "int64", "string".
inline const char* Name(DType dtype) {
  switch (dtype) {
    case DType::kInvalid:
      return "invalid";
    case DType::kFloat:
      return "float32";
    case DType::kDouble:
      return "float64";
    case DType::kInt32:
      return "int32";
    case DType::kUInt8:
      return "uint8";
    case DType::kInt16:
      return "int16";
    case DType::kInt8:
      return "int8";
    case DType::kString:
      return "string";
    case DType::kComplex64:
      return "complex64";
    case DType::kInt64:
      return "int64";
    case DType::kBool:
      return "bool";
    case DType::kQInt8:
      return "qint8";
    case DType::kQUInt8:
      return "quint8";
    case DType::kQInt32:
      return "qint32";
    case DType::kBFloat16:
      return "bfloat16";
    case DType::kQInt16:
      return "qint16";
    case DType::kQUInt16:
      return "quint16";
    case DType::kUInt16:
      return "uint16";
    case DType::kComplex128:
      return "complex128";
    case DType::kHalf:
      return "float16";
    case DType::kResource:
      return "resource";
    case DType::kVariant:
      return "variant";
    case DType::kUInt32:
      return "uint32";
    case DType::kUInt64:
      return "uint64";
    case DType::kFloat8E5M2:
      return "float8_e5m2";
    case DType::kFloat8E4M3FN:
      return "float8_e4m3fn";
    case DType::kInt4:
      return "int4";
    case DType::kUInt4:
      return "uint4";
  }
  return "unknown";
}
inline std::ostream& operator<<(std::ostream& out, DType dtype) { return out << Name(dtype); }

// True if a tensor of the type may have a gradient: floats of 16 to 64 bits and complex numbers,
// and kResource and kVariant, as a variable or a list of such numbers has one. Other handles count
// too: the type does not tell what a handle stands for.
inline bool IsDifferentiable(DType dtype) {
  switch (dtype) {
    case DType::kFloat:
    case DType::kDouble:
    case DType::kBFloat16:
    case DType::kHalf:
    case DType::kComplex64:
    case DType::kComplex128:
    case DType::kResource:
    case DType::kVariant:
      return true;
    default:
      return false;
  }
}

namespace internal {

// std::complex<float> and std::complex<double>, without the cost of including <complex>. Any other
// type with these members passes too if its value_type is one of these and it has the size of two.
template <typename T>
concept IsComplex = requires(const T& value) {
  typename T::value_type;
  value.real();
  value.imag();
}
&&(std::is_same_v<typename T::value_type, float> ||
   std::is_same_v<typename T::value_type, double>)&&sizeof(T) == 2 * sizeof(typename T::value_type);

// The DType of a C++ type; kInvalid for a type that tensors do not hold.
template <typename T>
constexpr DType DTypeOf() {
  if constexpr (std::is_same_v<T, float>) return DType::kFloat;
  if constexpr (std::is_same_v<T, double>) return DType::kDouble;
  if constexpr (std::is_same_v<T, bool>) return DType::kBool;
  if constexpr (std::is_same_v<T, std::string> || std::is_same_v<T, std::string_view> ||
                std::is_same_v<T, const char*>)
    return DType::kString;
  if constexpr (IsComplex<T>) {
    return sizeof(T) == 8 ? DType::kComplex64 : DType::kComplex128;
  }
  if constexpr (std::is_same_v<T, BFloat16>) return DType::kBFloat16;
  if constexpr (std::is_same_v<T, Half>) return DType::kHalf;
  // By size, so that long and long long both are 64 bits wide integers.
  if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
    if constexpr (std::is_signed_v<T>) {
      if constexpr (sizeof(T) == 1) return DType::kInt8;
      if constexpr (sizeof(T) == 2) return DType::kInt16;
      if constexpr (sizeof(T) == 4) return DType::kInt32;
      if constexpr (sizeof(T) == 8) return DType::kInt64;
    } else {
      if constexpr (sizeof(T) == 1) return DType::kUInt8;
      if constexpr (sizeof(T) == 2) return DType::kUInt16;
      if constexpr (sizeof(T) == 4) return DType::kUInt32;
      if constexpr (sizeof(T) == 8) return DType::kUInt64;
    }
  }
  return DType::kInvalid;
}

// A C++ type of numbers or bool that becomes a scalar tensor.
template <typename T>
concept Number = std::is_arithmetic_v<T> && DTypeOf<T>()
!= DType::kInvalid;

}  // namespace internal
}  // namespace tenon::inline v0
