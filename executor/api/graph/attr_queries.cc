// The functions TF_OperationGetAttr… of c_api.h.
#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "executor/api/base/arguments.h"
#include "executor/api/base/attr_checks.h"
#include "executor/api/base/op_text.h"
#include "executor/api/graph/tf_graph.h"
#include "graph/base/status_macros.h"
#include "graph/c_api/tensor_handles.h"
#include "graph/c_api/without_memory.h"
#include "graph/tensor/tensor_proto.h"
#include "graph/wire/wire.h"
#include "plugin/host/c_api/attr_errors.h"
#include "tensorflow/c/c_api.h"

namespace tenon::api {
namespace {

// AttrValue and its lists have shapes in this field.
constexpr uint32_t kShapeValue = 7;

template <typename... Parts>
absl::Status InvalidArg(const Parts&... parts) {
  return absl::InvalidArgumentError(absl::StrCat(parts...));
}

absl::Status CheckGiven(const TF_Operation* oper) {
  if (oper != nullptr && !WasDeleted(oper)) return absl::OkStatus();
  return InvalidArg("argument 'oper' ", oper == nullptr ? "is NULL" : "was deleted");
}

// The attribute, or its default. The value lives as long as the graph.
absl::StatusOr<AttrValue> FindAttr(TF_Operation* oper, const char* attr_name) {
  if (absl::Status given = CheckGiven(oper); !given.ok()) return given;
  if (attr_name == nullptr) return InvalidArg("argument 'attr_name' is NULL");
  absl::ReaderMutexLock lock(&oper->graph->mutex);
  const Graph& graph = oper->graph->graph;
  if (const AttrValue* value = graph.attr(oper->node, attr_name)) return *value;
  return InvalidArg("Operation '", graph.name(oper->node), "' has no attr named '", attr_name,
                    "'.");
}

// FindAttr for functions in which TensorFlow has another error.
absl::StatusOr<AttrValue> FindNodeAttr(TF_Operation* oper, const char* attr_name) {
  absl::StatusOr<AttrValue> value = FindAttr(oper, attr_name);
  if (value.ok() || oper == nullptr || WasDeleted(oper) || attr_name == nullptr) return value;
  absl::ReaderMutexLock lock(&oper->graph->mutex);
  return MissingAttr(attr_name, oper->graph->graph.name(oper->node));
}

// `end` ends the message.
absl::StatusOr<AttrValue> FindList(TF_Operation* oper, const char* attr_name,
                                   std::string_view end = "") {
  TENON_ASSIGN_OR_RETURN(const AttrValue value, FindAttr(oper, attr_name));
  if (value.kind() == AttrKind::kList) return value;
  return InvalidArg("Value for '", attr_name, "' is not a list", end);
}

// Whether the attribute has the type, which is "int", "list(shape)" or the like.
absl::Status CheckValueKind(const AttrValue& value, AttrKind wanted, bool list = false) {
  const AttrKind kind = value.kind();
  if (list && kind == AttrKind::kNone) return absl::OkStatus();
  if (!list && kind == wanted) return absl::OkStatus();
  const AttrKind element = value.list_kind();
  if (list && kind == AttrKind::kList && (element == wanted || element == AttrKind::kNone))
    return absl::OkStatus();
  const std::string_view name = AttrKindName(wanted);
  return WrongAttrType(value, list ? absl::StrCat("list(", name, ")") : std::string(name));
}

int64_t CountElements(const AttrValue& list) {
  const auto size = [](const auto& elements) -> int64_t {
    return elements.ok() ? static_cast<int64_t>(elements->size()) : 0;
  };
  switch (list.list_kind()) {
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
      return 0;
  }
}

int64_t TotalSize(const AttrValue& value) {
  int64_t total = 0;
  if (value.kind() == AttrKind::kString) return static_cast<int64_t>(value.AsString()->size());
  if (value.kind() == AttrKind::kShape) return value.AsShape().value_or(PartialShape()).rank();
  if (value.list_kind() == AttrKind::kString) {
    const absl::StatusOr<std::vector<std::string_view>> strings = value.AsStringList();
    if (!strings.ok()) return -1;  // a list of several kinds
    for (std::string_view s : *strings) total += static_cast<int64_t>(s.size());
    return total;
  }
  if (value.list_kind() != AttrKind::kShape) return -1;
  const absl::StatusOr<std::vector<PartialShape>> shapes = value.AsShapeList();
  for (size_t i = 0; shapes.ok() && i < shapes->size(); ++i)
    total += std::max((*shapes)[i].rank(), 0);
  return total;
}

// The type of the elements of an empty list, which the op alone knows.
absl::StatusOr<TF_AttrType> EmptyListType(TF_Operation* oper, const char* attr_name) {
  absl::ReaderMutexLock lock(&oper->graph->mutex);
  const AttrDef* def = oper->graph->graph.op(oper->node)->FindAttr(attr_name);
  if (def == nullptr) return TF_ATTR_STRING;
  if (def->is_list && def->kind != AttrKind::kFunc) return AttrTypeOf(def->kind);
  return InvalidArg("Attribute '", attr_name, "' has an empty value of an unrecognized type '",
                    AttrTypeText(*def), "'");
}

absl::StatusOr<TF_AttrMetadata> Describe(TF_Operation* oper, const char* attr_name) {
  TENON_ASSIGN_OR_RETURN(const AttrValue value, FindAttr(oper, attr_name));
  const AttrKind kind = value.kind();
  if (kind == AttrKind::kNone) return InvalidArg("Attribute '", attr_name, "' has no value set");
  TF_AttrMetadata data{0, -1, AttrTypeOf(kind), TotalSize(value)};
  if (kind != AttrKind::kList) return data;
  data.is_list = 1;
  data.list_size = CountElements(value);
  data.type = AttrTypeOf(value.list_kind());
  if (data.list_size == 0) {
    TENON_ASSIGN_OR_RETURN(data.type, EmptyListType(oper, attr_name));
  }
  return data;
}

template <typename T, typename Value>
absl::Status GetOne(TF_Operation* oper, const char* attr_name, AttrKind kind,
                    absl::StatusOr<Value> (AttrValue::*as)() const, T* to) {
  if (to == nullptr) return InvalidArg("argument 'value' is NULL");
  TENON_ASSIGN_OR_RETURN(const AttrValue value, FindNodeAttr(oper, attr_name));
  TENON_RETURN_IF_ERROR(CheckValueKind(value, kind));
  TENON_ASSIGN_OR_RETURN(const Value v, (value.*as)());
  *to = static_cast<T>(v);
  return absl::OkStatus();
}

template <typename T, typename Value>
absl::Status GetList(TF_Operation* oper, const char* attr_name,
                     absl::StatusOr<std::vector<Value>> (AttrValue::*as)() const, T* to,
                     int max_values) {
  TENON_ASSIGN_OR_RETURN(const AttrValue list, FindList(oper, attr_name, "."));
  TENON_ASSIGN_OR_RETURN(const std::vector<Value> values, (list.*as)());
  if (max_values > 0 && to == nullptr) return InvalidArg("argument 'values' is NULL");
  const size_t count = std::min(values.size(), static_cast<size_t>(std::max(max_values, 0)));
  for (size_t i = 0; i < count; ++i) to[i] = static_cast<T>(values[i]);
  return absl::OkStatus();
}

absl::Status GetString(TF_Operation* oper, const char* attr_name, void* to, size_t max_length) {
  TENON_ASSIGN_OR_RETURN(const AttrValue value, FindAttr(oper, attr_name));
  if (value.kind() != AttrKind::kString)
    return InvalidArg("Attribute '", attr_name, "' is not a string");
  if (max_length > 0 && to == nullptr) return InvalidArg("argument 'value' is NULL");
  const size_t count = std::min(value.AsString()->size(), max_length);
  if (count > 0) std::memcpy(to, value.AsString()->data(), count);
  return absl::OkStatus();
}

absl::Status GetStrings(TF_Operation* oper, const char* attr_name, void** values, size_t* lengths,
                        int max_values, char* storage, size_t storage_size) {
  TENON_ASSIGN_OR_RETURN(const AttrValue list, FindList(oper, attr_name));
  TENON_ASSIGN_OR_RETURN(const std::vector<std::string_view> strings, list.AsStringList());
  const size_t count = std::min(strings.size(), static_cast<size_t>(std::max(max_values, 0)));
  if (count > 0 && (values == nullptr || lengths == nullptr))
    return InvalidArg("argument 'values' or 'lengths' is NULL");
  // Looked at before anything is written.
  size_t needed = 0;
  for (size_t i = 0; i < count; ++i) needed += strings[i].size();
  if (needed > (storage == nullptr ? 0 : storage_size))
    return InvalidArg("Not enough storage to hold the requested list of strings");
  size_t used = 0;
  for (size_t i = 0; i < count; ++i) {
    values[i] = storage + used;
    lengths[i] = strings[i].size();
    if (!strings[i].empty()) std::memcpy(values[i], strings[i].data(), strings[i].size());
    used += strings[i].size();
  }
  return absl::OkStatus();
}

absl::Status GetShape(TF_Operation* oper, const char* attr_name, int64_t* to, int num_dims) {
  TENON_ASSIGN_OR_RETURN(const AttrValue value, FindNodeAttr(oper, attr_name));
  TENON_RETURN_IF_ERROR(CheckValueKind(value, AttrKind::kShape));
  TENON_ASSIGN_OR_RETURN(const PartialShape shape, value.AsShape());
  const int count = std::max(std::min(shape.rank(), num_dims), 0);
  if (count > 0 && to == nullptr) return InvalidArg("argument 'value' is NULL");
  std::copy_n(shape.dims().begin(), count, to);
  return absl::OkStatus();
}

absl::Status GetShapes(TF_Operation* oper, const char* attr_name, int64_t** dims, int* num_dims,
                       int num_shapes, int64_t* storage, int storage_size) {
  TENON_ASSIGN_OR_RETURN(const AttrValue list, FindNodeAttr(oper, attr_name));
  TENON_RETURN_IF_ERROR(CheckValueKind(list, AttrKind::kShape, /*list=*/true));
  TENON_ASSIGN_OR_RETURN(const std::vector<PartialShape> shapes, list.AsShapeList());
  const size_t count = std::min(shapes.size(), static_cast<size_t>(std::max(num_shapes, 0)));
  if (count > 0 && (dims == nullptr || num_dims == nullptr))
    return InvalidArg("argument 'dims' or 'num_dims' is NULL");
  size_t needed = 0;
  for (size_t i = 0; i < count; ++i) needed += shapes[i].dims().size();
  if (needed > (storage == nullptr ? 0 : static_cast<size_t>(std::max(storage_size, 0))))
    return InvalidArg("Not enough storage to hold the requested list of shapes");
  size_t used = 0;
  for (size_t i = 0; i < count; ++i) {
    const absl::Span<const int64_t> sizes = shapes[i].dims();
    num_dims[i] = shapes[i].rank();
    dims[i] = storage == nullptr ? nullptr : storage + used;
    std::copy(sizes.begin(), sizes.end(), dims[i]);
    used += sizes.size();
  }
  return absl::OkStatus();
}

// The bytes of the shapes in a value as they are: dimensions may have names.
std::vector<std::string_view> ShapeWires(std::string_view message) {
  std::vector<std::string_view> wires;
  WireReader reader(message);
  WireField f;
  while (reader.Next(&f)) {
    if (f.number == kShapeValue && f.type == WireType::kBytes) wires.push_back(f.bytes);
  }
  return wires;
}

absl::Status GetShapeProto(TF_Operation* oper, const char* attr_name, TF_Buffer* to) {
  if (to == nullptr) return InvalidArg("argument 'value' is NULL");
  TENON_ASSIGN_OR_RETURN(const AttrValue value, FindAttr(oper, attr_name));
  if (value.kind() != AttrKind::kShape)
    return InvalidArg("Value for '", attr_name, "' is not a shape.");
  return FillBuffer(ShapeWires(value.wire()).back(), to);
}

absl::Status GetShapeProtos(TF_Operation* oper, const char* attr_name, TF_Buffer** to,
                            int max_values) {
  TENON_ASSIGN_OR_RETURN(const AttrValue list, FindList(oper, attr_name));
  TENON_RETURN_IF_ERROR(CheckValueKind(list, AttrKind::kShape, /*list=*/true));
  std::vector<std::string_view> wires;
  WireReader reader(list.wire());
  WireField f;
  while (reader.Next(&f)) {
    if (f.number == 1 && f.type == WireType::kBytes) wires = ShapeWires(f.bytes);
  }
  const size_t count = std::min(wires.size(), static_cast<size_t>(std::max(max_values, 0)));
  if (count > 0 && to == nullptr) return InvalidArg("argument 'values' is NULL");
  for (size_t i = 0; i < count; ++i) to[i] = NewBuffer(wires[i]);
  return absl::OkStatus();
}

absl::Status GetTensor(TF_Operation* oper, const char* attr_name, TF_Tensor** to) {
  if (to == nullptr) return InvalidArg("argument 'value' is NULL");
  *to = nullptr;
  TENON_ASSIGN_OR_RETURN(const AttrValue value, FindNodeAttr(oper, attr_name));
  TENON_RETURN_IF_ERROR(CheckValueKind(value, AttrKind::kTensor));
  TENON_ASSIGN_OR_RETURN(Tensor tensor, TensorFromWire(*value.AsTensorWire()));
  *to = NewTensorHandle(std::move(tensor));
  return absl::OkStatus();
}

absl::Status GetTensors(TF_Operation* oper, const char* attr_name, TF_Tensor** to, int max_values) {
  TENON_ASSIGN_OR_RETURN(const AttrValue list, FindNodeAttr(oper, attr_name));
  TENON_RETURN_IF_ERROR(CheckValueKind(list, AttrKind::kTensor, /*list=*/true));
  TENON_ASSIGN_OR_RETURN(const std::vector<std::string_view> wires, list.AsTensorWireList());
  const size_t count = std::min(wires.size(), static_cast<size_t>(std::max(max_values, 0)));
  if (count > 0 && to == nullptr) return InvalidArg("argument 'values' is NULL");
  std::vector<Tensor> tensors(count);
  for (size_t i = 0; i < count; ++i) {
    TENON_ASSIGN_OR_RETURN(tensors[i], TensorFromWire(wires[i]));
  }
  for (size_t i = 0; i < count; ++i) to[i] = NewTensorHandle(std::move(tensors[i]));
  return absl::OkStatus();
}

absl::Status GetValueProto(TF_Operation* oper, const char* attr_name, TF_Buffer* to) {
  if (to == nullptr) return InvalidArg("argument 'output_attr_value' is NULL");
  TENON_ASSIGN_OR_RETURN(const AttrValue value, FindAttr(oper, attr_name));
  return FillBuffer(value.wire(), to);
}

// The names of the operation's attributes, sorted.
std::vector<std::string_view> AttrNames(const TF_Operation& oper) {
  absl::ReaderMutexLock lock(&oper.graph->mutex);
  const NodeKind& kind = oper.graph->graph.kind(oper.node);
  std::vector<std::string_view> names;
  for (const AttrSet* set : {&kind.attrs, &kind.defaults}) {
    for (const Attr& a : set->all()) names.push_back(a.name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

absl::Status GetAttrName(TF_Operation* oper, int i, char* output) {
  if (absl::Status given = CheckGiven(oper); !given.ok()) return given;
  if (output == nullptr) return InvalidArg("argument 'output' is NULL");
  const std::vector<std::string_view> names = AttrNames(*oper);
  if (i < 0 || static_cast<size_t>(i) >= names.size()) {
    return absl::OutOfRangeError(
        absl::StrCat("Operation only has ", names.size(), " attributes, can't get the ", i, "th"));
  }
  std::memcpy(output, names[i].data(), names[i].size());
  return absl::OkStatus();
}

}  // namespace
}  // namespace tenon::api

using tenon::AttrKind;
using tenon::AttrValue;
using tenon::StatusToC;
using tenon::api::GetList;
using tenon::api::GetOne;

extern "C" {

TF_AttrMetadata TF_OperationGetAttrMetadata(TF_Operation* oper, const char* attr_name,
                                            TF_Status* status) try {
  const absl::StatusOr<TF_AttrMetadata> data = tenon::api::Describe(oper, attr_name);
  StatusToC(data.status(), status);
  return data.ok() ? *data : TF_AttrMetadata{0, -1, TF_ATTR_STRING, -1};
} catch (...) {
  return tenon::WithoutMemory(status);
}

void TF_OperationGetAttrString(TF_Operation* oper, const char* attr_name, void* value,
                               size_t max_length, TF_Status* status) try {
  StatusToC(tenon::api::GetString(oper, attr_name, value, max_length), status);
} catch (...) {
  tenon::WithoutMemory(status);
}

void TF_OperationGetAttrStringList(TF_Operation* oper, const char* attr_name, void** values,
                                   size_t* lengths, int max_values, void* storage,
                                   size_t storage_size, TF_Status* status) try {
  StatusToC(tenon::api::GetStrings(oper, attr_name, values, lengths, max_values,
                                   static_cast<char*>(storage), storage_size),
            status);
} catch (...) {
  tenon::WithoutMemory(status);
}

void TF_OperationGetAttrInt(TF_Operation* oper, const char* attr_name, int64_t* value,
                            TF_Status* status) try {
  StatusToC(GetOne(oper, attr_name, AttrKind::kInt, &AttrValue::AsInt, value), status);
} catch (...) {
  tenon::WithoutMemory(status);
}

void TF_OperationGetAttrIntList(TF_Operation* oper, const char* attr_name, int64_t* values,
                                int max_values, TF_Status* status) try {
  StatusToC(GetList(oper, attr_name, &AttrValue::AsIntList, values, max_values), status);
} catch (...) {
  tenon::WithoutMemory(status);
}

void TF_OperationGetAttrFloat(TF_Operation* oper, const char* attr_name, float* value,
                              TF_Status* status) try {
  StatusToC(GetOne(oper, attr_name, AttrKind::kFloat, &AttrValue::AsFloat, value), status);
} catch (...) {
  tenon::WithoutMemory(status);
}

void TF_OperationGetAttrFloatList(TF_Operation* oper, const char* attr_name, float* values,
                                  int max_values, TF_Status* status) try {
  StatusToC(GetList(oper, attr_name, &AttrValue::AsFloatList, values, max_values), status);
} catch (...) {
  tenon::WithoutMemory(status);
}

void TF_OperationGetAttrBool(TF_Operation* oper, const char* attr_name, unsigned char* value,
                             TF_Status* status) try {
  StatusToC(GetOne(oper, attr_name, AttrKind::kBool, &AttrValue::AsBool, value), status);
} catch (...) {
  tenon::WithoutMemory(status);
}

void TF_OperationGetAttrBoolList(TF_Operation* oper, const char* attr_name, unsigned char* values,
                                 int max_values, TF_Status* status) try {
  StatusToC(GetList(oper, attr_name, &AttrValue::AsBoolList, values, max_values), status);
} catch (...) {
  tenon::WithoutMemory(status);
}

void TF_OperationGetAttrType(TF_Operation* oper, const char* attr_name, TF_DataType* value,
                             TF_Status* status) try {
  StatusToC(GetOne(oper, attr_name, AttrKind::kType, &AttrValue::AsType, value), status);
} catch (...) {
  tenon::WithoutMemory(status);
}

void TF_OperationGetAttrTypeList(TF_Operation* oper, const char* attr_name, TF_DataType* values,
                                 int max_values, TF_Status* status) try {
  StatusToC(GetList(oper, attr_name, &AttrValue::AsTypeList, values, max_values), status);
} catch (...) {
  tenon::WithoutMemory(status);
}

void TF_OperationGetAttrShape(TF_Operation* oper, const char* attr_name, int64_t* value,
                              int num_dims, TF_Status* status) try {
  StatusToC(tenon::api::GetShape(oper, attr_name, value, num_dims), status);
} catch (...) {
  tenon::WithoutMemory(status);
}

void TF_OperationGetAttrShapeList(TF_Operation* oper, const char* attr_name, int64_t** dims,
                                  int* num_dims, int num_shapes, int64_t* storage, int storage_size,
                                  TF_Status* status) try {
  StatusToC(
      tenon::api::GetShapes(oper, attr_name, dims, num_dims, num_shapes, storage, storage_size),
      status);
} catch (...) {
  tenon::WithoutMemory(status);
}

void TF_OperationGetAttrTensorShapeProto(TF_Operation* oper, const char* attr_name,
                                         TF_Buffer* value, TF_Status* status) try {
  StatusToC(tenon::api::GetShapeProto(oper, attr_name, value), status);
} catch (...) {
  tenon::WithoutMemory(status);
}

void TF_OperationGetAttrTensorShapeProtoList(TF_Operation* oper, const char* attr_name,
                                             TF_Buffer** values, int max_values,
                                             TF_Status* status) try {
  StatusToC(tenon::api::GetShapeProtos(oper, attr_name, values, max_values), status);
} catch (...) {
  tenon::WithoutMemory(status);
}

void TF_OperationGetAttrTensor(TF_Operation* oper, const char* attr_name, TF_Tensor** value,
                               TF_Status* status) try {
  StatusToC(tenon::api::GetTensor(oper, attr_name, value), status);
} catch (...) {
  tenon::WithoutMemory(status);
}

void TF_OperationGetAttrTensorList(TF_Operation* oper, const char* attr_name, TF_Tensor** values,
                                   int max_values, TF_Status* status) try {
  StatusToC(tenon::api::GetTensors(oper, attr_name, values, max_values), status);
} catch (...) {
  tenon::WithoutMemory(status);
}

void TF_OperationGetAttrValueProto(TF_Operation* oper, const char* attr_name,
                                   TF_Buffer* output_attr_value, TF_Status* status) try {
  StatusToC(tenon::api::GetValueProto(oper, attr_name, output_attr_value), status);
} catch (...) {
  tenon::WithoutMemory(status);
}

int TF_OperationGetNumAttrs(TF_Operation* oper) try {
  return tenon::IsThere(oper) ? static_cast<int>(tenon::api::AttrNames(*oper).size()) : 0;
} catch (...) {
  return tenon::WithoutMemory();
}

int TF_OperationGetAttrNameLength(TF_Operation* oper, int i) try {
  if (!tenon::IsThere(oper) || i < 0) return -1;
  const std::vector<std::string_view> names = tenon::api::AttrNames(*oper);
  return static_cast<size_t>(i) < names.size() ? static_cast<int>(names[i].size()) : -1;
} catch (...) {
  tenon::WithoutMemory();
  return -1;
}

void TF_OperationGetAttrName(TF_Operation* oper, int i, char* output, TF_Status* status) try {
  StatusToC(tenon::api::GetAttrName(oper, i, output), status);
} catch (...) {
  tenon::WithoutMemory(status);
}

}  // extern "C"
