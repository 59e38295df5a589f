// The functions TF_SetAttr… of c_api.h. Those without a status leave what is wrong to
// TF_FinishOperation.
#include <algorithm>
#include <climits>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "executor/api/base/arguments.h"
#include "executor/api/graph/tf_operation_description.h"
#include "graph/base/status_macros.h"
#include "graph/c_api/without_memory.h"
#include "graph/ir/colocation.h"
#include "graph/tensor/shape_wire.h"
#include "graph/tensor/tensor_proto.h"
#include "graph/wire/wire.h"
#include "graph/wire/wire_check.h"
#include "proto/tensor_shape.pb.h"
#include "tensorflow/c/c_api.h"

namespace tenon::api {
namespace {

// Whether the description can take the attribute, and `count` elements can be read from `values`.
bool CanSet(TF_OperationDescription* desc, const char* attr, const void* values, int64_t count,
            const char* function = __builtin_FUNCTION()) {
  if (GraphOf(desc, function) == nullptr) return false;
  if (attr == nullptr) {
    desc->builder.Fail("argument 'attr_name' is NULL");
    return false;
  }
  if (count == 0 || (IsCount(count) && values != nullptr)) return true;
  desc->builder.Fail(absl::StrCat("the value of attr '", attr, "' is no array of ", count));
  return false;
}

// The same for a text of `length` bytes.
bool CanSetText(TF_OperationDescription* desc, const char* attr, const void* text, size_t length,
                const char* function = __builtin_FUNCTION()) {
  if (!CanSet(desc, attr, text, length == 0 ? 0 : 1, function)) return false;
  if (IsSize(length)) return true;
  desc->builder.Fail(absl::StrCat("the value of attr '", attr, "' is no text of ", length));
  return false;
}

// The same, but for values, with a status.
bool CanSet(TF_OperationDescription* desc, const char* attr, TF_Status* status) {
  if (!AllGiven({{"desc", desc}, {"attr_name", attr}}, status)) return false;
  if (desc->graph.get() != nullptr) return true;
  StatusToC(absl::InvalidArgumentError("the graph of 'desc' was deleted"), status);
  return false;
}

template <typename T>
void SetList(TF_OperationDescription* desc, const char* attr, const T* values, int count,
             std::string (*write)(absl::Span<const T>),
             const char* function = __builtin_FUNCTION()) {
  if (CanSet(desc, attr, values, count, function))
    desc->builder.SetAttr(attr, write(absl::MakeConstSpan(values, count)));
}

// The message AttrValue with a list of `wires` in field `number`.
std::string ListOf(uint32_t number, const std::vector<std::string>& wires) {
  std::string list, out;
  WireWriter writer(&list);
  for (const std::string& wire : wires) writer.Bytes(number, wire);
  WireWriter(&out).Bytes(1, list);
  return out;
}

// AttrValue.shape and .tensor; the same numbers hold in AttrValue.list.
constexpr uint32_t kShapeField = 7, kTensorField = 8;

constexpr int64_t kMaxNesting = 100;  // of messages, as protobuf reads them

std::string OneOf(uint32_t number, std::string_view wire) {
  std::string out;
  WireWriter(&out).Bytes(number, wire);
  return out;
}

// `dims` may be null if there are none, and for an unknown rank.
bool ShapeOf(TF_OperationDescription& desc, const char* attr, const int64_t* dims, int num_dims,
             PartialShape* shape) {
  *shape = PartialShape();
  if (num_dims < 0) return true;
  if (num_dims > kMaxRank) {
    desc.builder.Fail(absl::StrCat("attr '", attr, "' cannot have ", num_dims, " dimensions"));
    return false;
  }
  if (!CanSet(&desc, attr, dims, num_dims)) return false;
  Dims sizes(dims, dims + num_dims);
  for (int64_t& size : sizes) size = std::max<int64_t>(size, kUnknownDim);  // as in TensorFlow
  absl::StatusOr<PartialShape> made = PartialShape::Make(sizes);
  if (!made.ok()) {
    desc.builder.Fail(absl::StrCat("attr '", attr, "': ", made.status().message()));
    return false;
  }
  *shape = *std::move(made);
  return true;
}

void SetColocation(TF_OperationDescription& desc, const std::vector<std::string_view>& groups) {
  desc.builder.colocation().clear();
  for (std::string_view group : groups) desc.builder.colocation().emplace(group);
}

absl::StatusOr<std::string> ShapeProto(const void* proto, size_t proto_len) {
  pb::TensorShapeProto message;
  if (proto_len > INT_MAX || !message.ParseFromArray(proto, static_cast<int>(proto_len)))
    return absl::InvalidArgumentError("Unparseable TensorShapeProto");
  for (pb::TensorShapeProto::Dim& dim : *message.mutable_dim())
    dim.set_size(std::max<int64_t>(dim.size(), kUnknownDim));
  std::string wire = message.SerializeAsString();
  TENON_RETURN_IF_ERROR(ShapeFromWire(wire).status());
  return wire;
}

absl::Status SetValue(TF_OperationDescription& desc, const char* attr, std::string_view wire) {
  if (CheckWire(WireMessage::kAttrValue, wire, {kMaxNesting}).has_value())
    return absl::InvalidArgumentError("Unparseable AttrValue proto");
  if (attr != kColocationAttr) {
    desc.builder.SetAttr(attr, std::string(wire));
    return absl::OkStatus();
  }
  const AttrValue value(wire);
  if (value.kind() != AttrKind::kList && value.kind() != AttrKind::kNone) {
    return absl::InvalidArgumentError(
        absl::StrCat("Expected \"list\" field for \"", kColocationAttr, "\" attribute"));
  }
  TENON_ASSIGN_OR_RETURN(const std::vector<std::string_view> groups, value.AsStringList());
  SetColocation(desc, groups);
  return absl::OkStatus();
}

}  // namespace
}  // namespace tenon::api

using tenon::StatusToC;
using tenon::api::AllGiven;
using tenon::api::CanSet;
using tenon::api::CanSetText;
using tenon::api::IsArray;
using tenon::api::IsBytes;
namespace attr = tenon::attr;

extern "C" {

void TF_SetAttrString(TF_OperationDescription* desc, const char* attr_name, const void* value,
                      size_t length) try {
  if (!CanSetText(desc, attr_name, value, length)) return;
  desc->builder.SetAttr(attr_name, attr::String({static_cast<const char*>(value), length}));
} catch (...) {
  tenon::WithoutMemoryFor(desc);
}

void TF_SetAttrStringList(TF_OperationDescription* desc, const char* attr_name,
                          const void* const* values, const size_t* lengths, int num_values) try {
  if (!CanSet(desc, attr_name, values, num_values) || !CanSet(desc, attr_name, lengths, num_values))
    return;
  std::vector<std::string_view> strings;
  for (int i = 0; i < num_values; ++i) {
    if (!CanSetText(desc, attr_name, values[i], lengths[i])) return;
    strings.emplace_back(static_cast<const char*>(values[i]), lengths[i]);
  }
  if (attr_name == tenon::kColocationAttr) return tenon::api::SetColocation(*desc, strings);
  desc->builder.SetAttr(attr_name, attr::StringList(strings));
} catch (...) {
  tenon::WithoutMemoryFor(desc);
}

void TF_SetAttrInt(TF_OperationDescription* desc, const char* attr_name, int64_t value) try {
  if (CanSet(desc, attr_name, nullptr, 0)) desc->builder.SetAttr(attr_name, attr::Int(value));
} catch (...) {
  tenon::WithoutMemoryFor(desc);
}

void TF_SetAttrIntList(TF_OperationDescription* desc, const char* attr_name, const int64_t* values,
                       int num_values) try {
  tenon::api::SetList(desc, attr_name, values, num_values, attr::IntList);
} catch (...) {
  tenon::WithoutMemoryFor(desc);
}

void TF_SetAttrFloat(TF_OperationDescription* desc, const char* attr_name, float value) try {
  if (CanSet(desc, attr_name, nullptr, 0)) desc->builder.SetAttr(attr_name, attr::Float(value));
} catch (...) {
  tenon::WithoutMemoryFor(desc);
}

void TF_SetAttrFloatList(TF_OperationDescription* desc, const char* attr_name, const float* values,
                         int num_values) try {
  tenon::api::SetList(desc, attr_name, values, num_values, attr::FloatList);
} catch (...) {
  tenon::WithoutMemoryFor(desc);
}

void TF_SetAttrBool(TF_OperationDescription* desc, const char* attr_name, unsigned char value) try {
  if (CanSet(desc, attr_name, nullptr, 0)) desc->builder.SetAttr(attr_name, attr::Bool(value != 0));
} catch (...) {
  tenon::WithoutMemoryFor(desc);
}

void TF_SetAttrBoolList(TF_OperationDescription* desc, const char* attr_name,
                        const unsigned char* values, int num_values) try {
  if (!CanSet(desc, attr_name, values, num_values)) return;
  // A bool that is neither 0 nor 1 is no value of the type: the bytes are read one by one.
  absl::InlinedVector<bool, 16> bools(num_values);
  for (int i = 0; i < num_values; ++i) bools[i] = values[i] != 0;
  desc->builder.SetAttr(attr_name, attr::BoolList(bools));
} catch (...) {
  tenon::WithoutMemoryFor(desc);
}

void TF_SetAttrType(TF_OperationDescription* desc, const char* attr_name, TF_DataType value) try {
  if (CanSet(desc, attr_name, nullptr, 0))
    desc->builder.SetAttr(attr_name, attr::Type(tenon::DataTypeFromC(value)));
} catch (...) {
  tenon::WithoutMemoryFor(desc);
}

void TF_SetAttrTypeList(TF_OperationDescription* desc, const char* attr_name,
                        const TF_DataType* values, int num_values) try {
  if (!CanSet(desc, attr_name, values, num_values)) return;
  std::vector<tenon::DataType> types;
  for (int i = 0; i < num_values; ++i) types.push_back(tenon::DataTypeFromC(values[i]));
  desc->builder.SetAttr(attr_name, attr::TypeList(types));
} catch (...) {
  tenon::WithoutMemoryFor(desc);
}

void TF_SetAttrPlaceholder(TF_OperationDescription* desc, const char* attr_name,
                           const char* placeholder) try {
  if (!CanSet(desc, attr_name, placeholder, 1)) return;
  desc->builder.SetAttr(attr_name, attr::Placeholder(placeholder));
} catch (...) {
  tenon::WithoutMemoryFor(desc);
}

void TF_SetAttrFuncName(TF_OperationDescription* desc, const char* attr_name, const char* value,
                        size_t length) try {
  if (!CanSetText(desc, attr_name, value, length)) return;
  desc->builder.SetAttr(attr_name, attr::Func({value, length}));
} catch (...) {
  tenon::WithoutMemoryFor(desc);
}

void TF_SetAttrShape(TF_OperationDescription* desc, const char* attr_name, const int64_t* dims,
                     int num_dims) try {
  tenon::PartialShape shape;
  if (!CanSet(desc, attr_name, nullptr, 0) ||
      !tenon::api::ShapeOf(*desc, attr_name, dims, num_dims, &shape))
    return;
  desc->builder.SetAttr(attr_name, attr::Shape(shape));
} catch (...) {
  tenon::WithoutMemoryFor(desc);
}

void TF_SetAttrShapeList(TF_OperationDescription* desc, const char* attr_name,
                         const int64_t* const* dims, const int* num_dims, int num_shapes) try {
  if (!CanSet(desc, attr_name, dims, num_shapes) || !CanSet(desc, attr_name, num_dims, num_shapes))
    return;
  std::vector<tenon::PartialShape> shapes(num_shapes);
  for (int i = 0; i < num_shapes; ++i) {
    if (!tenon::api::ShapeOf(*desc, attr_name, dims[i], num_dims[i], &shapes[i])) return;
  }
  desc->builder.SetAttr(attr_name, attr::ShapeList(shapes));
} catch (...) {
  tenon::WithoutMemoryFor(desc);
}

void TF_SetAttrTensorShapeProto(TF_OperationDescription* desc, const char* attr_name,
                                const void* proto, size_t proto_len, TF_Status* status) try {
  if (!CanSet(desc, attr_name, status) || !IsBytes("proto", proto, proto_len, status)) return;
  const absl::StatusOr<std::string> shape = tenon::api::ShapeProto(proto, proto_len);
  if (!shape.ok()) return StatusToC(shape.status(), status);
  desc->builder.SetAttr(attr_name, tenon::api::OneOf(tenon::api::kShapeField, *shape));
} catch (...) {
  tenon::WithoutMemory(status);
}

void TF_SetAttrTensorShapeProtoList(TF_OperationDescription* desc, const char* attr_name,
                                    const void* const* protos, const size_t* proto_lens,
                                    int num_shapes, TF_Status* status) try {
  if (!CanSet(desc, attr_name, status) || !IsArray("protos", protos, num_shapes, status) ||
      !IsArray("proto_lens", proto_lens, num_shapes, status))
    return;
  std::vector<std::string> shapes;
  for (int i = 0; i < num_shapes; ++i) {
    if (!IsBytes("protos", protos[i], proto_lens[i], status)) return;
    absl::StatusOr<std::string> shape = tenon::api::ShapeProto(protos[i], proto_lens[i]);
    if (!shape.ok()) return StatusToC(shape.status(), status);
    shapes.push_back(*std::move(shape));
  }
  desc->builder.SetAttr(attr_name, tenon::api::ListOf(tenon::api::kShapeField, shapes));
} catch (...) {
  tenon::WithoutMemory(status);
}

void TF_SetAttrTensor(TF_OperationDescription* desc, const char* attr_name, TF_Tensor* value,
                      TF_Status* status) try {
  if (!CanSet(desc, attr_name, status) || !AllGiven({{"value", value}}, status)) return;
  const absl::StatusOr<std::string> wire = tenon::TensorToAttrWire(value->value());
  if (!wire.ok()) return StatusToC(wire.status(), status);
  desc->builder.SetAttr(attr_name, attr::TensorWire(*wire));
} catch (...) {
  tenon::WithoutMemory(status);
}

void TF_SetAttrTensorList(TF_OperationDescription* desc, const char* attr_name,
                          TF_Tensor* const* values, int num_values, TF_Status* status) try {
  if (!CanSet(desc, attr_name, status) || !IsArray("values", values, num_values, status)) return;
  std::vector<std::string> tensors;
  for (int i = 0; i < num_values; ++i) {
    if (!AllGiven({{"values", values[i]}}, status)) return;
    absl::StatusOr<std::string> wire = tenon::TensorToAttrWire(values[i]->value());
    if (!wire.ok()) return StatusToC(wire.status(), status);
    tensors.push_back(*std::move(wire));
  }
  desc->builder.SetAttr(attr_name, tenon::api::ListOf(tenon::api::kTensorField, tensors));
} catch (...) {
  tenon::WithoutMemory(status);
}

void TF_SetAttrValueProto(TF_OperationDescription* desc, const char* attr_name, const void* proto,
                          size_t proto_len, TF_Status* status) try {
  if (!CanSet(desc, attr_name, status) || !IsBytes("proto", proto, proto_len, status)) return;
  StatusToC(tenon::api::SetValue(*desc, attr_name, {static_cast<const char*>(proto), proto_len}),
            status);
} catch (...) {
  tenon::WithoutMemory(status);
}

}  // extern "C"
