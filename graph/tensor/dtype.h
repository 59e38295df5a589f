// Element types: TensorFlow's DataType enumeration, with names and sizes.
// Values are TensorFlow's wire values and never move; a reference type is its base plus 100.
// All functions are pure and thread-safe. Functions that ask for a property count a reference as
// its base; values that are no type have the properties of kInvalid.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace tenon {

enum class DataType : int32_t {
  kInvalid = 0,
  kFloat = 1,
  kDouble = 2,
  kInt32 = 3,
  kUint8 = 4,
  kInt16 = 5,
  kInt8 = 6,
  kString = 7,
  kComplex64 = 8,
  kInt64 = 9,
  kBool = 10,
  kQint8 = 11,
  kQuint8 = 12,
  kQint32 = 13,
  kBfloat16 = 14,
  kQint16 = 15,
  kQuint16 = 16,
  kUint16 = 17,
  kComplex128 = 18,
  kHalf = 19,
  kResource = 20,
  kVariant = 21,
  kUint32 = 22,
  kUint64 = 23,
  kFloat8E5m2 = 24,
  kFloat8E4m3fn = 25,
  kFloat8E4m3fnuz = 26,
  kFloat8E4m3b11fnuz = 27,
  kFloat8E5m2fnuz = 28,
  kInt4 = 29,
  kUint4 = 30,
  kInt2 = 31,
  kUint2 = 32,
  kFloat4E2m1fn = 33,
};

inline constexpr int32_t kRefOffset = 100;

constexpr bool IsRef(DataType t) { return static_cast<int32_t>(t) > kRefOffset; }
constexpr DataType BaseType(DataType t) {
  return IsRef(t) ? static_cast<DataType>(static_cast<int32_t>(t) - kRefOffset) : t;
}
constexpr DataType MakeRef(DataType t) {
  return IsRef(t) ? t : static_cast<DataType>(static_cast<int32_t>(t) + kRefOffset);
}

// Whether `value`, as read from a file or a plug-in, is a known type or the reference form of one.
// False for 0 (kInvalid).
bool IsKnownDataType(int32_t value);

// Bytes of one element in a tensor's buffer. Strings are TF_TString (24); resource and variant
// elements are one host object pointer (8); the types below 8 bits lie one to a byte. 0 for
// kInvalid.
size_t DataTypeSize(DataType t);

// Whether elements may be copied with memcpy: everything but string, resource and variant. True of
// kInvalid too.
bool IsMemcpyable(DataType t);

bool IsFloating(DataType t);  // half, bfloat16, float, double; not the types of 8 and 4 bits
bool IsInteger(DataType t);   // int8 to int64 and uint8 to uint64; not quantized, not below 8 bits
bool IsComplex(DataType t);
bool IsQuantized(DataType t);

// "DT_FLOAT", "DT_FLOAT_REF"; "DT_INVALID" or "DT_INVALID_REF" for unknown values.
std::string_view DataTypeName(DataType t);
// "float", "int32" … as OpDef specs write them. A reference has the name of its base, and an
// unknown value is "invalid".
std::string_view DataTypeSpecName(DataType t);
// "f32", "i32" … as the command line writes them; the DT_ name where there is no short one. A
// reference has the name of its base.
std::string_view DataTypeShortName(DataType t);

// Read the names that the three functions above return; each accepts one form only. nullopt for an
// unknown name, "invalid" and "DT_INVALID" included. Only ParseDataTypeName reads references.
// ParseDataTypeShortName does not read the DT_ names of types that have no short name (resource and
// variant).
std::optional<DataType> ParseDataTypeName(std::string_view name);
std::optional<DataType> ParseDataTypeSpecName(std::string_view name);
std::optional<DataType> ParseDataTypeShortName(std::string_view name);

}  // namespace tenon
