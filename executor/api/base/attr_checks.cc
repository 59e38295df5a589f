#include "executor/api/base/attr_checks.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

#include <algorithm>
#include <climits>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "executor/api/base/op_text.h"
#include "graph/base/status_macros.h"
#include "graph/tensor/tensor_proto.h"
#include "graph/wire/wire.h"
#include "proto/attr_value.pb.h"

namespace tenon::api {
namespace {

template <typename... Parts>
absl::Status Wrong(const Parts&... parts) {
  return absl::InvalidArgumentError(absl::StrCat(parts...));
}

// The kind of the first element of the list that is not of `kind`; `kind` if all are.
AttrKind OtherKind(const AttrValue& list, AttrKind kind) {
  // The elements of each kind have a field of ListValue, from strings (2) to functions (9).
  constexpr uint32_t kListField = 1, kFirst = 2, kInts = 3, kTypes = 6, kLast = 9;
  std::string_view elements;
  WireField f;
  for (WireReader reader(list.wire()); reader.Next(&f);) {
    if (f.number == kListField && f.type == WireType::kBytes) elements = f.bytes;
  }
  for (WireReader reader(elements); reader.Next(&f);) {
    if (f.number < kFirst || f.number > kLast) continue;
    const bool none = f.type == WireType::kBytes && f.bytes.empty() && f.number >= kInts &&
                      f.number <= kTypes;  // a packed list without elements
    const auto other = static_cast<AttrKind>(f.number - kFirst + 1);
    if (!none && other != kind) return other;
  }
  return kind;
}
static_assert(static_cast<int>(AttrKind::kString) == 1 && static_cast<int>(AttrKind::kFunc) == 8);

// An attribute without a value counts as an empty list; the elements of an empty list have no type.
absl::Status CheckAttrType(const AttrDef& def, const AttrValue& value) {
  const AttrKind kind = value.kind();
  if (kind == AttrKind::kPlaceholder)
    return Wrong("AttrValue had value with unexpected type 'placeholder'");
  const bool empty =
      kind == AttrKind::kNone || (kind == AttrKind::kList && value.list_kind() == AttrKind::kNone);
  if (empty)
    return def.is_list
               ? absl::OkStatus()
               : Wrong("AttrValue missing value with expected type '", AttrTypeText(def), "'");
  const bool is_list = kind == AttrKind::kList;
  const AttrKind element = is_list ? OtherKind(value, def.kind) : kind;
  if (is_list == def.is_list && element == def.kind) return absl::OkStatus();
  return Wrong("AttrValue had value with type '", is_list ? "list(" : "", AttrKindName(element),
               is_list ? ")" : "", "' when '", AttrTypeText(def), "' expected");
}

// The number that the value gives a type: AttrValue.type, of which the last one counts.
int32_t TypeNumber(const AttrValue& value) {
  constexpr uint32_t kTypeField = 6;
  WireReader reader(value.wire());
  int32_t number = 0;
  for (WireField f; reader.Next(&f);) {
    if (f.number == kTypeField && f.type == WireType::kVarint)
      number = static_cast<int32_t>(f.scalar);
  }
  return number;
}

absl::Status CheckTypeEnum(DataType type, std::string_view has) {
  if (IsRef(type)) return Wrong("AttrValue must not have reference type value of ", TypeText(type));
  if (type == DataType::kInvalid) return Wrong("AttrValue ", has, " invalid DataType");
  return absl::OkStatus();
}

// Values that do not decode: a type that does not exist, an impossible shape.
absl::Status CheckDecodes(const AttrDef& def, const AttrValue& value) {
  if (def.kind == AttrKind::kShape)
    return def.is_list ? value.AsShapeList().status() : value.AsShape().status();
  if (def.kind != AttrKind::kType) return absl::OkStatus();
  if (!def.is_list) {
    const absl::StatusOr<DataType> type = value.AsType();
    if (type.ok()) return CheckTypeEnum(*type, "has");
    if (absl::IsInvalidArgument(type.status()))
      return Wrong("AttrValue has invalid DataType enum: ", TypeNumber(value));
    return type.status();
  }
  TENON_ASSIGN_OR_RETURN(const std::vector<DataType> types, value.AsTypeList());
  for (DataType type : types) TENON_RETURN_IF_ERROR(CheckTypeEnum(type, "contains"));
  return absl::OkStatus();
}

int64_t LengthOf(AttrKind kind, const AttrValue& list) {
  const auto size = [](const auto& elements) {
    return elements.ok() ? static_cast<int64_t>(elements->size()) : -1;
  };
  switch (kind) {
    case AttrKind::kString:
      return size(list.AsStringList());
    case AttrKind::kInt:
      return size(list.AsIntList());
    case AttrKind::kFloat:
      return size(list.AsFloatList());
    case AttrKind::kBool:
      return size(list.AsBoolList());
    case AttrKind::kType:
      return size(list.AsTypeList());
    case AttrKind::kShape:
      return size(list.AsShapeList());
    case AttrKind::kTensor:
      return size(list.AsTensorWireList());
    case AttrKind::kFunc:
      return size(list.AsFuncList());
    default:
      return -1;
  }
}

absl::Status CheckMinimum(const AttrDef& def, const AttrValue& value) {
  if (!def.has_minimum) return absl::OkStatus();
  const int64_t n = def.is_list ? LengthOf(def.kind, value) : value.AsInt().value_or(0);
  if (n >= def.minimum) return absl::OkStatus();
  return Wrong(def.is_list ? "Length" : "Value", " for attr '", def.name, "' of ", n,
               " must be at least minimum ", def.minimum);
}

absl::Status CheckAllowed(const AttrDef& def, DataType type) {
  const auto& allowed = def.allowed_types;
  if (std::find(allowed.begin(), allowed.end(), type) != allowed.end()) return absl::OkStatus();
  return Wrong(
      "Value for attr '", def.name, "' of ", TypeText(type),
      " is not in the list of allowed values: ",
      absl::StrJoin(allowed, ", ", [](std::string* out, DataType t) { out->append(TypeText(t)); }));
}

absl::Status CheckAllowed(const AttrDef& def, std::string_view text) {
  const auto& allowed = def.allowed_strings;
  if (std::find(allowed.begin(), allowed.end(), text) != allowed.end()) return absl::OkStatus();
  return Wrong("Value for attr '", def.name, "' of \"", text,
               "\" is not in the list of allowed values: ",
               absl::StrJoin(allowed, ", ", [](std::string* out, const std::string& s) {
                 absl::StrAppend(out, "\"", s, "\"");
               }));
}

template <typename T>
absl::Status CheckEachAllowed(const AttrDef& def, const absl::StatusOr<T>& one,
                              const absl::StatusOr<std::vector<T>>& list) {
  if (!def.is_list) return one.ok() ? CheckAllowed(def, *one) : one.status();
  if (!list.ok()) return list.status();
  for (const T& element : *list) TENON_RETURN_IF_ERROR(CheckAllowed(def, element));
  return absl::OkStatus();
}

// The bytes of an AttrValue in the one form that protobuf gives equal messages; maps are sorted.
std::string Canonical(std::string_view wire) {
  pb::AttrValue value;
  std::string bytes;
  if (wire.size() > INT_MAX || !value.ParseFromArray(wire.data(), static_cast<int>(wire.size())))
    return std::string(wire);
  {
    google::protobuf::io::StringOutputStream stream(&bytes);
    google::protobuf::io::CodedOutputStream out(&stream);
    out.SetSerializationDeterministic(true);
    value.SerializeToCodedStream(&out);
  }
  return bytes;
}

}  // namespace

absl::Status CheckAttr(const AttrDef& def, const AttrValue& value) {
  absl::Status typed = CheckAttrType(def, value);
  if (typed.ok()) typed = CheckDecodes(def, value);
  if (!typed.ok()) return Wrong(typed.message(), "\n\t for attr '", def.name, "'");
  TENON_RETURN_IF_ERROR(CheckMinimum(def, value));
  if (!def.allowed_types.empty()) return CheckEachAllowed(def, value.AsType(), value.AsTypeList());
  if (!def.allowed_strings.empty())
    return CheckEachAllowed(def, value.AsString(), value.AsStringList());
  return absl::OkStatus();
}

absl::Status CheckDeprecation(const OpDef& op, int producer) {
  if (op.deprecated_since <= 0 || producer < op.deprecated_since) return absl::OkStatus();
  return absl::UnimplementedError(absl::StrCat(
      "Op ", op.name, " is not available in GraphDef version ", producer,
      ". It has been removed in version ", op.deprecated_since, ". ", op.deprecation, "."));
}

bool SameAttr(const AttrValue& a, const AttrValue& b) {
  if (a.wire() == b.wire()) return true;
  if (a.kind() != b.kind()) return false;
  if (a.kind() == AttrKind::kTensor) {
    const absl::StatusOr<Tensor> x = TensorFromWire(a.AsTensorWire().value_or(""));
    const absl::StatusOr<Tensor> y = TensorFromWire(b.AsTensorWire().value_or(""));
    if (!x.ok() || !y.ok()) return false;
    const absl::StatusOr<std::string> p = TensorToWire(*x), q = TensorToWire(*y);
    return p.ok() && q.ok() && *p == *q;
  }
  return Canonical(a.wire()) == Canonical(b.wire());
}

TF_AttrType AttrTypeOf(AttrKind kind) {
  switch (kind) {
    case AttrKind::kString:
      return TF_ATTR_STRING;
    case AttrKind::kInt:
      return TF_ATTR_INT;
    case AttrKind::kFloat:
      return TF_ATTR_FLOAT;
    case AttrKind::kBool:
      return TF_ATTR_BOOL;
    case AttrKind::kType:
      return TF_ATTR_TYPE;
    case AttrKind::kShape:
      return TF_ATTR_SHAPE;
    case AttrKind::kTensor:
      return TF_ATTR_TENSOR;
    case AttrKind::kPlaceholder:
      return TF_ATTR_PLACEHOLDER;
    default:
      return TF_ATTR_FUNC;
  }
}

}  // namespace tenon::api
