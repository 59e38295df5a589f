// The functions of eager/c_api.h that set and ask attributes of ops.
#include <array>
#include <utility>

#include "absl/strings/str_cat.h"
#include "executor/api/base/arguments.h"
#include "executor/api/base/attr_checks.h"
#include "executor/api/eager/eager_op.h"
#include "graph/base/status_macros.h"
#include "graph/c_api/c_api_internal.h"
#include "graph/c_api/without_memory.h"
#include "graph/tensor/shape.h"
#include "graph/tensor/tensor_proto.h"
#include "graph/wire/wire.h"
#include "tensorflow/c/eager/c_api.h"

namespace tenon::eager {
namespace {

// Sets an attribute for functions that have no status: hostile arguments set nothing.
void Put(TFE_Op* op, const char* name, std::string_view wire,
         const char* function = __builtin_FUNCTION()) {
  if (name != nullptr && IsThere(op, function) && CheckOp(op).ok()) op->attrs.Set(name, wire);
}

// Whether there can be a text of so many bytes.
bool IsText(const void* data, size_t length) {
  return length == 0 || (data != nullptr && api::IsSize(length));
}

template <typename T>
bool IsList(const T* values, int count) {
  return count == 0 || (api::IsCount(count) && values != nullptr);
}

absl::StatusOr<PartialShape> ShapeOf(const int64_t* dims, int num_dims) {
  if (num_dims > kMaxRank) {
    return absl::InvalidArgumentError(absl::StrCat("Value specified for `num_dims` is ", num_dims,
                                                   ", which exceeds the limit of ", kMaxRank));
  }
  if (num_dims < 0) return PartialShape();
  if (!IsList(dims, num_dims)) return absl::InvalidArgumentError("Invalid dimensions");
  return PartialShape::Make(absl::MakeConstSpan(dims, num_dims));
}

// NameAttrList bytes: the op's name and its attributes.
std::string FunctionOf(const TFE_Op& op) {
  std::string func;
  WireWriter writer(&func);
  writer.Bytes(1, op.entry->def->name);
  for (const auto& [name, wire] : op.attrs.All()) {
    std::string entry;
    WireWriter entry_writer(&entry);
    entry_writer.Bytes(1, name);
    entry_writer.Bytes(2, wire);
    writer.Bytes(2, entry);
  }
  return func;
}

// AttrValue bytes with `bytes` as this field.
std::string AttrWith(uint32_t field, std::string_view bytes) {
  std::string value;
  WireWriter(&value).Bytes(field, bytes);
  return value;
}
constexpr uint32_t kAttrList = 1, kAttrFunc = 10;  // of AttrValue
constexpr uint32_t kListFunc = 9;                  // of AttrValue.ListValue

absl::StatusOr<TF_AttrType> TypeOf(const TFE_Op& op, const char* name, unsigned char* is_list) {
  const AttrDef* const attr = name == nullptr ? nullptr : op.entry->def->FindAttr(name);
  if (attr == nullptr) {
    return absl::InvalidArgumentError(absl::StrCat("Attribute '", name == nullptr ? "" : name,
                                                   "' does not exist for this operation"));
  }
  if (is_list != nullptr) *is_list = attr->is_list ? 1 : 0;
  return api::AttrTypeOf(attr->kind);
}

}  // namespace
}  // namespace tenon::eager

namespace attr = tenon::attr;
using tenon::StatusToC;
using tenon::eager::AttrWith;
using tenon::eager::CheckOp;
using tenon::eager::FunctionOf;
using tenon::eager::IsList;
using tenon::eager::IsText;
using tenon::eager::Put;

extern "C" {

TF_AttrType TFE_OpGetAttrType(TFE_Op* op, const char* attr_name, unsigned char* is_list,
                              TF_Status* status) try {
  StatusToC(CheckOp(op), status);
  if (!CheckOp(op).ok()) return TF_ATTR_INT;
  const absl::StatusOr<TF_AttrType> type = tenon::eager::TypeOf(*op, attr_name, is_list);
  StatusToC(type.status(), status);
  return type.ok() ? *type : TF_ATTR_INT;
} catch (...) {
  return tenon::WithoutMemory(status);
}

TF_AttrType TFE_OpNameGetAttrType(TFE_Context* ctx, const char* op_or_function_name,
                                  const char* attr_name, unsigned char* is_list,
                                  TF_Status* status) try {
  TFE_Op* const op = TFE_NewOp(ctx, op_or_function_name, status);
  if (op == nullptr) return TF_ATTR_INT;
  const TF_AttrType type = TFE_OpGetAttrType(op, attr_name, is_list, status);
  TFE_DeleteOp(op);
  return type;
} catch (...) {
  return tenon::WithoutMemory(status);
}

void TFE_OpSetAttrString(TFE_Op* op, const char* attr_name, const void* value, size_t length) try {
  if (!IsText(value, length)) return;
  Put(op, attr_name, attr::String({static_cast<const char*>(value), length}));
} catch (...) {
  tenon::WithoutMemoryFor(op);
}

void TFE_OpSetAttrInt(TFE_Op* op, const char* attr_name, int64_t value) try {
  Put(op, attr_name, attr::Int(value));
} catch (...) {
  tenon::WithoutMemoryFor(op);
}

void TFE_OpSetAttrFloat(TFE_Op* op, const char* attr_name, float value) try {
  Put(op, attr_name, attr::Float(value));
} catch (...) {
  tenon::WithoutMemoryFor(op);
}

void TFE_OpSetAttrBool(TFE_Op* op, const char* attr_name, unsigned char value) try {
  Put(op, attr_name, attr::Bool(value != 0));
} catch (...) {
  tenon::WithoutMemoryFor(op);
}

void TFE_OpSetAttrType(TFE_Op* op, const char* attr_name, TF_DataType value) try {
  Put(op, attr_name, attr::Type(tenon::DataTypeFromC(value)));
} catch (...) {
  tenon::WithoutMemoryFor(op);
}

void TFE_OpSetAttrShape(TFE_Op* op, const char* attr_name, const int64_t* dims, const int num_dims,
                        TF_Status* out_status) try {
  const absl::StatusOr<tenon::PartialShape> shape = tenon::eager::ShapeOf(dims, num_dims);
  StatusToC(shape.ok() ? CheckOp(op) : shape.status(), out_status);
  if (shape.ok()) Put(op, attr_name, attr::Shape(*shape));
} catch (...) {
  tenon::WithoutMemory(out_status);
}

void TFE_OpSetAttrFunction(TFE_Op* op, const char* attr_name, const TFE_Op* value) try {
  if (tenon::IsThere(value) && CheckOp(value).ok())
    Put(op, attr_name, AttrWith(tenon::eager::kAttrFunc, FunctionOf(*value)));
} catch (...) {
  tenon::WithoutMemoryFor(op);
}

void TFE_OpSetAttrFunctionName(TFE_Op* op, const char* attr_name, const char* data,
                               size_t length) try {
  if (!IsText(data, length)) return;
  Put(op, attr_name, attr::Func({data, length}));
} catch (...) {
  tenon::WithoutMemoryFor(op);
}

void TFE_OpSetAttrTensor(TFE_Op* op, const char* attr_name, TF_Tensor* tensor,
                         TF_Status* status) try {
  StatusToC(CheckOp(op), status);
  if (tensor == nullptr) return StatusToC(absl::InvalidArgumentError("Invalid tensor"), status);
  if (tensor->is_deleted())
    return StatusToC(absl::InvalidArgumentError("Invalid tensor: it is deleted"), status);
  const absl::StatusOr<std::string> wire = tenon::TensorToWire(tensor->value());
  if (!wire.ok()) return StatusToC(wire.status(), status);
  Put(op, attr_name, attr::TensorWire(*wire));
} catch (...) {
  tenon::WithoutMemory(status);
}

void TFE_OpSetAttrStringList(TFE_Op* op, const char* attr_name, const void* const* values,
                             const size_t* lengths, int num_values) try {
  if (!IsList(values, num_values) || !IsList(lengths, num_values)) return;
  std::vector<std::string_view> texts;
  for (int i = 0; i < num_values; ++i) {
    if (!IsText(values[i], lengths[i])) return;
    texts.emplace_back(static_cast<const char*>(values[i]), lengths[i]);
  }
  Put(op, attr_name, attr::StringList(texts));
} catch (...) {
  tenon::WithoutMemoryFor(op);
}

void TFE_OpSetAttrIntList(TFE_Op* op, const char* attr_name, const int64_t* values,
                          int num_values) try {
  if (!IsList(values, num_values)) return;
  Put(op, attr_name, attr::IntList(absl::MakeConstSpan(values, num_values)));
} catch (...) {
  tenon::WithoutMemoryFor(op);
}

void TFE_OpSetAttrFloatList(TFE_Op* op, const char* attr_name, const float* values,
                            int num_values) try {
  if (!IsList(values, num_values)) return;
  Put(op, attr_name, attr::FloatList(absl::MakeConstSpan(values, num_values)));
} catch (...) {
  tenon::WithoutMemoryFor(op);
}

void TFE_OpSetAttrBoolList(TFE_Op* op, const char* attr_name, const unsigned char* values,
                           int num_values) try {
  if (!IsList(values, num_values)) return;
  const auto flags = std::make_unique<bool[]>(num_values);
  for (int i = 0; i < num_values; ++i) flags[i] = values[i] != 0;
  Put(op, attr_name, attr::BoolList(absl::MakeConstSpan(flags.get(), num_values)));
} catch (...) {
  tenon::WithoutMemoryFor(op);
}

void TFE_OpSetAttrTypeList(TFE_Op* op, const char* attr_name, const TF_DataType* values,
                           int num_values) try {
  if (!IsList(values, num_values)) return;
  tenon::TypeVector types;
  for (int i = 0; i < num_values; ++i) types.push_back(tenon::DataTypeFromC(values[i]));
  Put(op, attr_name, attr::TypeList(types));
} catch (...) {
  tenon::WithoutMemoryFor(op);
}

void TFE_OpSetAttrShapeList(TFE_Op* op, const char* attr_name, const int64_t** dims,
                            const int* num_dims, int num_values, TF_Status* out_status) try {
  StatusToC(CheckOp(op), out_status);
  if (!IsList(dims, num_values) || !IsList(num_dims, num_values))
    return StatusToC(absl::InvalidArgumentError("Invalid list of shapes"), out_status);
  std::vector<tenon::PartialShape> shapes;
  for (int i = 0; i < num_values; ++i) {
    const absl::StatusOr<tenon::PartialShape> shape = tenon::eager::ShapeOf(dims[i], num_dims[i]);
    if (!shape.ok()) return StatusToC(shape.status(), out_status);
    shapes.push_back(*shape);
  }
  Put(op, attr_name, attr::ShapeList(shapes));
} catch (...) {
  tenon::WithoutMemory(out_status);
}

void TFE_OpSetAttrFunctionList(TFE_Op* op, const char* attr_name, const TFE_Op** value,
                               int num_values) try {
  if (!IsList(value, num_values)) return;
  std::string list;
  for (int i = 0; i < num_values; ++i) {
    if (!tenon::IsThere(value[i]) || !CheckOp(value[i]).ok()) return;
    tenon::WireWriter(&list).Bytes(tenon::eager::kListFunc, FunctionOf(*value[i]));
  }
  Put(op, attr_name, AttrWith(tenon::eager::kAttrList, list));
} catch (...) {
  tenon::WithoutMemoryFor(op);
}

}  // extern "C"
