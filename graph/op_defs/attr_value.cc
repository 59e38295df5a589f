// Attributes stay as bytes and are decoded when they are asked for: most attributes of a graph are
// never read. Readers follow protobuf's rules for repeated, packed and merged fields.

#include "graph/op_defs/attr_value.h"

#include <array>
#include <iterator>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "graph/base/status_macros.h"
#include "graph/tensor/shape_wire.h"
#include "graph/wire/wire.h"

namespace tenon {
namespace {

// Field numbers of AttrValue; those of ListValue are the same for s to tensor, with func = 9.
enum Field : uint32_t {
  kFieldList = 1,
  kFieldS = 2,
  kFieldI = 3,
  kFieldF = 4,
  kFieldB = 5,
  kFieldType = 6,
  kFieldShape = 7,
  kFieldTensor = 8,
  kFieldPlaceholder = 9,
  kFieldFunc = 10,
  kFieldListFunc = 9,
};

absl::Status Malformed() { return absl::DataLossError("malformed AttrValue bytes"); }

// What a field of AttrValue holds, and how it is written.
struct FieldInfo {
  AttrKind kind;
  WireType type;
};
constexpr FieldInfo kFields[] = {
    {AttrKind::kNone, WireType::kBytes},         // no field has the number 0
    {AttrKind::kList, WireType::kBytes},         // kFieldList
    {AttrKind::kString, WireType::kBytes},       // kFieldS
    {AttrKind::kInt, WireType::kVarint},         // kFieldI
    {AttrKind::kFloat, WireType::kFixed32},      // kFieldF
    {AttrKind::kBool, WireType::kVarint},        // kFieldB
    {AttrKind::kType, WireType::kVarint},        // kFieldType
    {AttrKind::kShape, WireType::kBytes},        // kFieldShape
    {AttrKind::kTensor, WireType::kBytes},       // kFieldTensor
    {AttrKind::kPlaceholder, WireType::kBytes},  // kFieldPlaceholder
    {AttrKind::kFunc, WireType::kBytes},         // kFieldFunc
};

const FieldInfo& InfoOf(uint32_t number) {
  return kFields[number < std::size(kFields) ? number : 0];
}
WireType WireTypeOf(uint32_t number) { return InfoOf(number).type; }
AttrKind KindOfField(uint32_t number) { return InfoOf(number).kind; }

// Finds the field that holds the value: the last one of the oneof, as protobuf reads it.
bool ValueField(std::string_view wire, WireField* value) {
  WireReader reader(wire);
  WireField f;
  bool found = false;
  while (reader.Next(&f)) {
    if (KindOfField(f.number) == AttrKind::kNone || f.type != WireTypeOf(f.number)) continue;
    *value = f;
    found = true;
  }
  return found && reader.ok();
}

absl::StatusOr<WireField> Expect(const AttrValue& v, uint32_t number) {
  WireField f;
  const bool found = ValueField(v.wire(), &f);
  if (found && f.number == number) return f;
  return absl::InvalidArgumentError(absl::StrCat(
      "has a value of type '", AttrKindName(found ? KindOfField(f.number) : AttrKind::kNone),
      "' where '", AttrKindName(KindOfField(number)), "' is expected"));
}

float BitsToFloat(uint64_t bits) {
  const uint32_t b = static_cast<uint32_t>(bits);
  float f;
  std::memcpy(&f, &b, sizeof(f));
  return f;
}

absl::StatusOr<DataType> CheckedType(uint64_t v) {
  if (v == 0) return DataType::kInvalid;
  if (v <= INT32_MAX && IsKnownDataType(static_cast<int32_t>(v))) return static_cast<DataType>(v);
  return absl::InvalidArgumentError(absl::StrCat("has the unknown data type ", v));
}

absl::StatusOr<FuncAttr> ParseFunc(std::string_view wire) {
  FuncAttr func;
  func.attrs_wire = wire;
  WireReader reader(wire);
  WireField f;
  while (reader.Next(&f)) {
    if (f.number == 1 && f.type == WireType::kBytes) func.name = f.bytes;
  }
  if (!reader.ok()) return Malformed();
  return func;
}

AttrKind ListFieldKind(uint32_t number) {
  if (number == kFieldListFunc) return AttrKind::kFunc;
  return number >= kFieldS && number <= kFieldTensor ? KindOfField(number) : AttrKind::kNone;
}

// Whether a field of a list is packed and has no elements: it does not tell the kind of the list.
bool IsEmptyPack(const WireField& f) {
  return f.type == WireType::kBytes && f.bytes.empty() && f.number >= kFieldI &&
         f.number <= kFieldType;
}

// Calls `each` with every element of list field `number`, packed or not. Elements of another kind
// are an error.
template <typename Each>
absl::Status ForEachElement(const AttrValue& v, uint32_t number, Each each) {
  // TensorFlow reads an attribute without a value as an empty list, and files leave empty lists
  // out.
  if (v.wire().empty()) return absl::OkStatus();
  TENON_ASSIGN_OR_RETURN(const WireField list, Expect(v, kFieldList));
  WireReader reader(list.bytes);
  WireField f;
  const WireType scalar = number == kFieldListFunc ? WireType::kBytes : WireTypeOf(number);
  while (reader.Next(&f)) {
    const AttrKind kind = ListFieldKind(f.number);
    if (kind == AttrKind::kNone) continue;
    if (IsEmptyPack(f)) continue;
    if (f.number != number) {
      return absl::InvalidArgumentError(
          absl::StrCat("has a value of type 'list(", AttrKindName(kind), ")' where 'list(",
                       AttrKindName(ListFieldKind(number)), ")' is expected"));
    }
    if (f.type == scalar) {
      TENON_RETURN_IF_ERROR(each(f));
    } else if (f.type == WireType::kBytes) {
      // A packed list: one field holds all elements, without tags. Files have either form.
      const char* p = f.bytes.data();
      const char* end = p + f.bytes.size();
      WireField element;
      while (p < end) {
        if (scalar == WireType::kVarint) {
          if (!WireReader::ReadVarint(&p, end, &element.scalar)) return Malformed();
        } else {
          if (end - p < 4) return Malformed();
          uint32_t bits;
          std::memcpy(&bits, p, 4);
          element.scalar = bits;
          p += 4;
        }
        TENON_RETURN_IF_ERROR(each(element));
      }
    } else {
      return Malformed();
    }
  }
  return reader.ok() ? absl::OkStatus() : Malformed();
}

template <typename T, typename Convert>
absl::StatusOr<std::vector<T>> Elements(const AttrValue& v, uint32_t number, Convert convert) {
  std::vector<T> out;
  TENON_RETURN_IF_ERROR(ForEachElement(v, number, [&](const WireField& f) -> absl::Status {
    absl::StatusOr<T> element = convert(f);
    if (!element.ok()) return element.status();
    out.push_back(*std::move(element));
    return absl::OkStatus();
  }));
  return out;
}

}  // namespace

std::string_view AttrKindName(AttrKind kind) {
  static constexpr std::array<std::string_view, 11> kNames = {
      "no value", "string", "int",  "float",       "bool", "type",
      "shape",    "tensor", "func", "placeholder", "list"};
  return kNames[static_cast<size_t>(kind)];
}

AttrKind AttrValue::kind() const {
  WireField f;
  return ValueField(wire_, &f) ? KindOfField(f.number) : AttrKind::kNone;
}

AttrKind AttrValue::list_kind() const {
  WireField list;
  if (!ValueField(wire_, &list) || list.number != kFieldList) return AttrKind::kNone;
  WireReader reader(list.bytes);
  WireField f;
  while (reader.Next(&f)) {
    if (ListFieldKind(f.number) != AttrKind::kNone && !IsEmptyPack(f))
      return ListFieldKind(f.number);
  }
  return AttrKind::kNone;
}

absl::StatusOr<std::string_view> AttrValue::AsString() const {
  TENON_ASSIGN_OR_RETURN(WireField f, Expect(*this, kFieldS));
  return f.bytes;
}
absl::StatusOr<int64_t> AttrValue::AsInt() const {
  TENON_ASSIGN_OR_RETURN(WireField f, Expect(*this, kFieldI));
  return static_cast<int64_t>(f.scalar);
}
absl::StatusOr<float> AttrValue::AsFloat() const {
  TENON_ASSIGN_OR_RETURN(WireField f, Expect(*this, kFieldF));
  return BitsToFloat(f.scalar);
}
absl::StatusOr<bool> AttrValue::AsBool() const {
  TENON_ASSIGN_OR_RETURN(WireField f, Expect(*this, kFieldB));
  return f.scalar != 0;
}
absl::StatusOr<DataType> AttrValue::AsType() const {
  TENON_ASSIGN_OR_RETURN(WireField f, Expect(*this, kFieldType));
  return CheckedType(f.scalar);
}
absl::StatusOr<PartialShape> AttrValue::AsShape() const {
  TENON_ASSIGN_OR_RETURN(WireField f, Expect(*this, kFieldShape));
  return ShapeFromWire(f.bytes);
}
absl::StatusOr<std::string_view> AttrValue::AsTensorWire() const {
  TENON_ASSIGN_OR_RETURN(WireField f, Expect(*this, kFieldTensor));
  return f.bytes;
}
absl::StatusOr<FuncAttr> AttrValue::AsFunc() const {
  TENON_ASSIGN_OR_RETURN(WireField f, Expect(*this, kFieldFunc));
  return ParseFunc(f.bytes);
}
absl::StatusOr<std::string_view> AttrValue::AsPlaceholder() const {
  TENON_ASSIGN_OR_RETURN(WireField f, Expect(*this, kFieldPlaceholder));
  return f.bytes;
}

absl::StatusOr<std::vector<std::string_view>> AttrValue::AsStringList() const {
  return Elements<std::string_view>(
      *this, kFieldS, [](const WireField& f) { return absl::StatusOr<std::string_view>(f.bytes); });
}
absl::StatusOr<std::vector<int64_t>> AttrValue::AsIntList() const {
  return Elements<int64_t>(*this, kFieldI, [](const WireField& f) {
    return absl::StatusOr<int64_t>(static_cast<int64_t>(f.scalar));
  });
}
absl::StatusOr<std::vector<float>> AttrValue::AsFloatList() const {
  return Elements<float>(*this, kFieldF, [](const WireField& f) {
    return absl::StatusOr<float>(BitsToFloat(f.scalar));
  });
}
absl::StatusOr<std::vector<bool>> AttrValue::AsBoolList() const {
  return Elements<bool>(*this, kFieldB,
                        [](const WireField& f) { return absl::StatusOr<bool>(f.scalar != 0); });
}
absl::StatusOr<std::vector<DataType>> AttrValue::AsTypeList() const {
  return Elements<DataType>(*this, kFieldType,
                            [](const WireField& f) { return CheckedType(f.scalar); });
}
absl::StatusOr<std::vector<PartialShape>> AttrValue::AsShapeList() const {
  return Elements<PartialShape>(*this, kFieldShape,
                                [](const WireField& f) { return ShapeFromWire(f.bytes); });
}
absl::StatusOr<std::vector<std::string_view>> AttrValue::AsTensorWireList() const {
  return Elements<std::string_view>(*this, kFieldTensor, [](const WireField& f) {
    return absl::StatusOr<std::string_view>(f.bytes);
  });
}
absl::StatusOr<std::vector<FuncAttr>> AttrValue::AsFuncList() const {
  return Elements<FuncAttr>(*this, kFieldListFunc,
                            [](const WireField& f) { return ParseFunc(f.bytes); });
}

namespace attr {
namespace {

template <typename T, typename Write>
std::string List(absl::Span<const T> values, Write write) {
  std::string list;
  WireWriter writer(&list);
  for (const T& v : values) write(writer, v);
  std::string out;
  WireWriter(&out).Bytes(kFieldList, list);
  return out;
}

template <typename T>
std::string PackedList(uint32_t number, absl::Span<const T> values) {
  std::string packed;
  WireWriter writer(&packed);
  for (T v : values) writer.RawVarint(static_cast<uint64_t>(v));
  std::string list;
  // As protobuf writes an empty list, so that equal lists are equal bytes.
  if (!values.empty()) WireWriter(&list).Bytes(number, packed);
  std::string out;
  WireWriter(&out).Bytes(kFieldList, list);
  return out;
}

std::string OneBytes(uint32_t number, std::string_view bytes) {
  std::string out;
  WireWriter(&out).Bytes(number, bytes);
  return out;
}

std::string OneVarint(uint32_t number, uint64_t v) {
  std::string out;
  WireWriter(&out).Varint(number, v);
  return out;
}

}  // namespace

std::string String(std::string_view v) { return OneBytes(kFieldS, v); }
std::string Int(int64_t v) { return OneVarint(kFieldI, static_cast<uint64_t>(v)); }
std::string Float(float v) {
  std::string out;
  WireWriter(&out).Float(kFieldF, v);
  return out;
}
std::string Bool(bool v) { return OneVarint(kFieldB, v ? 1 : 0); }
std::string Type(DataType v) { return OneVarint(kFieldType, static_cast<uint64_t>(v)); }
std::string Shape(const PartialShape& v) { return OneBytes(kFieldShape, ShapeToWire(v)); }
std::string TensorWire(std::string_view tensor_proto) {
  return OneBytes(kFieldTensor, tensor_proto);
}
std::string Func(std::string_view name) { return OneBytes(kFieldFunc, OneBytes(1, name)); }
std::string Placeholder(std::string_view name) { return OneBytes(kFieldPlaceholder, name); }
std::string StringList(absl::Span<const std::string_view> v) {
  return List<std::string_view>(v, [](WireWriter& w, std::string_view s) { w.Bytes(kFieldS, s); });
}
std::string IntList(absl::Span<const int64_t> v) { return PackedList(kFieldI, v); }
std::string FloatList(absl::Span<const float> v) {
  return List<float>(v, [](WireWriter& w, float f) { w.Float(kFieldF, f); });
}
std::string BoolList(absl::Span<const bool> v) { return PackedList(kFieldB, v); }
std::string TypeList(absl::Span<const DataType> v) { return PackedList(kFieldType, v); }
std::string FuncList(absl::Span<const std::string_view> names) {
  return List<std::string_view>(names, [](WireWriter& w, std::string_view name) {
    w.Bytes(kFieldListFunc, OneBytes(1, name));
  });
}
std::string ShapeList(absl::Span<const PartialShape> v) {
  return List<PartialShape>(
      v, [](WireWriter& w, const PartialShape& s) { w.Bytes(kFieldShape, ShapeToWire(s)); });
}

}  // namespace attr

}  // namespace tenon
