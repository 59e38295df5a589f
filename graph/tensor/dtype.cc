// One row of facts for each type, in the order of TensorFlow's numbers. A reference type is its
// base type plus 100 and has no row of its own.

#include "graph/tensor/dtype.h"

#include <array>
#include <string>

namespace tenon {
namespace {

enum Trait : uint8_t {
  kNone = 0,
  kFloating = 1,
  kInteger = 2,
  kComplexTrait = 4,
  kQuantizedTrait = 8,
  kObject = 16
};

struct Info {
  std::string_view name;       // without "DT_"
  std::string_view ref_name;   // full name of the reference type
  std::string_view full_name;  // with "DT_"
  std::string_view spec_name;
  std::string_view short_name;  // empty: none
  uint8_t size;
  uint8_t traits;
};

#define TENON_DTYPE(upper, spec, brief, size, traits) \
  Info { upper, "DT_" upper "_REF", "DT_" upper, spec, brief, size, traits }

// In the order of DataType's values.
constexpr std::array<Info, 34> kInfo = {
    TENON_DTYPE("INVALID", "invalid", "", 0, kNone),
    TENON_DTYPE("FLOAT", "float", "f32", 4, kFloating),
    TENON_DTYPE("DOUBLE", "double", "f64", 8, kFloating),
    TENON_DTYPE("INT32", "int32", "i32", 4, kInteger),
    TENON_DTYPE("UINT8", "uint8", "u8", 1, kInteger),
    TENON_DTYPE("INT16", "int16", "i16", 2, kInteger),
    TENON_DTYPE("INT8", "int8", "i8", 1, kInteger),
    TENON_DTYPE("STRING", "string", "str", 24, kObject),
    TENON_DTYPE("COMPLEX64", "complex64", "c64", 8, kComplexTrait),
    TENON_DTYPE("INT64", "int64", "i64", 8, kInteger),
    TENON_DTYPE("BOOL", "bool", "bool", 1, kNone),
    TENON_DTYPE("QINT8", "qint8", "q8", 1, kQuantizedTrait),
    TENON_DTYPE("QUINT8", "quint8", "qu8", 1, kQuantizedTrait),
    TENON_DTYPE("QINT32", "qint32", "q32", 4, kQuantizedTrait),
    TENON_DTYPE("BFLOAT16", "bfloat16", "bf16", 2, kFloating),
    TENON_DTYPE("QINT16", "qint16", "q16", 2, kQuantizedTrait),
    TENON_DTYPE("QUINT16", "quint16", "qu16", 2, kQuantizedTrait),
    TENON_DTYPE("UINT16", "uint16", "u16", 2, kInteger),
    TENON_DTYPE("COMPLEX128", "complex128", "c128", 16, kComplexTrait),
    TENON_DTYPE("HALF", "half", "f16", 2, kFloating),
    TENON_DTYPE("RESOURCE", "resource", "", 8, kObject),
    TENON_DTYPE("VARIANT", "variant", "", 8, kObject),
    TENON_DTYPE("UINT32", "uint32", "u32", 4, kInteger),
    TENON_DTYPE("UINT64", "uint64", "u64", 8, kInteger),
    TENON_DTYPE("FLOAT8_E5M2", "float8_e5m2", "f8e5m2", 1, kNone),
    TENON_DTYPE("FLOAT8_E4M3FN", "float8_e4m3fn", "f8e4m3", 1, kNone),
    TENON_DTYPE("FLOAT8_E4M3FNUZ", "float8_e4m3fnuz", "f8e4m3fnuz", 1, kNone),
    TENON_DTYPE("FLOAT8_E4M3B11FNUZ", "float8_e4m3b11fnuz", "f8e4m3b11fnuz", 1, kNone),
    TENON_DTYPE("FLOAT8_E5M2FNUZ", "float8_e5m2fnuz", "f8e5m2fnuz", 1, kNone),
    TENON_DTYPE("INT4", "int4", "i4", 1, kNone),
    TENON_DTYPE("UINT4", "uint4", "u4", 1, kNone),
    TENON_DTYPE("INT2", "int2", "i2", 1, kNone),
    TENON_DTYPE("UINT2", "uint2", "u2", 1, kNone),
    TENON_DTYPE("FLOAT4_E2M1FN", "float4_e2m1fn", "f4e2m1", 1, kNone),
};
#undef TENON_DTYPE

const Info& InfoOf(DataType t) {
  const int32_t i = static_cast<int32_t>(BaseType(t));
  return kInfo[i >= 0 && i < static_cast<int32_t>(kInfo.size()) ? i : 0];
}

template <typename Get>
std::optional<DataType> Find(std::string_view name, Get get) {
  if (name.empty()) return std::nullopt;
  for (size_t i = 1; i < kInfo.size(); ++i) {
    if (get(kInfo[i]) == name) return static_cast<DataType>(i);
  }
  return std::nullopt;
}

}  // namespace

bool IsKnownDataType(int32_t value) {
  if (value > kRefOffset) value -= kRefOffset;
  return value > 0 && value < static_cast<int32_t>(kInfo.size());
}

size_t DataTypeSize(DataType t) { return InfoOf(t).size; }
bool IsMemcpyable(DataType t) { return (InfoOf(t).traits & kObject) == 0; }
bool IsFloating(DataType t) { return (InfoOf(t).traits & kFloating) != 0; }
bool IsInteger(DataType t) { return (InfoOf(t).traits & kInteger) != 0; }
bool IsComplex(DataType t) { return (InfoOf(t).traits & kComplexTrait) != 0; }
bool IsQuantized(DataType t) { return (InfoOf(t).traits & kQuantizedTrait) != 0; }

std::string_view DataTypeName(DataType t) {
  return IsRef(t) ? InfoOf(t).ref_name : InfoOf(t).full_name;
}
std::string_view DataTypeSpecName(DataType t) { return InfoOf(t).spec_name; }
std::string_view DataTypeShortName(DataType t) {
  const Info& info = InfoOf(t);
  return info.short_name.empty() ? info.full_name : info.short_name;
}

std::optional<DataType> ParseDataTypeName(std::string_view name) {
  if (auto t = Find(name, [](const Info& i) { return i.full_name; })) return t;
  if (auto t = Find(name, [](const Info& i) { return i.ref_name; })) return MakeRef(*t);
  return std::nullopt;
}
std::optional<DataType> ParseDataTypeSpecName(std::string_view name) {
  return Find(name, [](const Info& i) { return i.spec_name; });
}
std::optional<DataType> ParseDataTypeShortName(std::string_view name) {
  return Find(name, [](const Info& i) { return i.short_name; });
}

}  // namespace tenon
