// The functions on TF_OpKernelConstruction: what a kernel may ask about its node while it is
// created. Codes and messages of errors are TensorFlow's.
#include <algorithm>
#include <cstring>
#include <limits>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "graph/base/status_macros.h"
#include "graph/c_api/arguments.h"
#include "graph/c_api/c_api_internal.h"
#include "graph/c_api/tensor_handles.h"
#include "graph/c_api/without_memory.h"
#include "graph/tensor/tensor_proto.h"
#include "plugin/host/c_api/attr_errors.h"
#include "plugin/host/c_api/kernels/kernel_context.h"

namespace tenon {
namespace {

// TensorFlow's message of the functions that ask for the size of an attribute or for a list of
// numbers.
absl::Status NoSuchAttr(const TF_OpKernelConstruction* ctx, std::string_view name) {
  return absl::InvalidArgumentError(
      absl::StrCat("Operation '", ctx->kernel->name, "' has no attr named '", name, "'."));
}

// Returns the value if it is a list of `element`. A list without elements passes as a list of any
// type, since its bytes do not tell the type.
absl::StatusOr<AttrValue> CheckedList(const AttrValue& value, AttrKind element) {
  if (value.kind() == AttrKind::kList &&
      (value.list_kind() == element || value.list_kind() == AttrKind::kNone)) {
    return value;
  }
  return WrongAttrType(value, absl::StrCat("list(", AttrKindName(element), ")"));
}

// The node's value of the attribute, or the op's default.
absl::StatusOr<AttrValue> GetAttr(const TF_OpKernelConstruction* ctx, const char* attr_name) {
  const std::string_view name = absl::NullSafeStringView(attr_name);
  if (std::optional<AttrValue> value = FindAttr(ctx->kernel->node, name)) return *value;
  return MissingAttr(name, ctx->kernel->name);
}

// The attribute's value, which must be of this kind.
absl::StatusOr<AttrValue> GetScalar(const TF_OpKernelConstruction* ctx, const char* name,
                                    AttrKind kind) {
  TENON_ASSIGN_OR_RETURN(const AttrValue value, GetAttr(ctx, name));
  if (value.kind() == kind) return value;
  return WrongAttrType(value, AttrKindName(kind));
}

absl::StatusOr<AttrValue> GetList(const TF_OpKernelConstruction* ctx, const char* name,
                                  AttrKind element) {
  TENON_ASSIGN_OR_RETURN(const AttrValue value, GetAttr(ctx, name));
  return CheckedList(value, element);
}

// Returns a list of numbers or types. TensorFlow has other messages for these where the attribute
// is missing or is no list than for lists of strings and tensors.
absl::StatusOr<AttrValue> GetNumbers(const TF_OpKernelConstruction* ctx, const char* attr_name,
                                     AttrKind element) {
  const std::string_view name = absl::NullSafeStringView(attr_name);
  const std::optional<AttrValue> value = FindAttr(ctx->kernel->node, name);
  if (!value) return NoSuchAttr(ctx, name);
  if (value->kind() != AttrKind::kList)
    return absl::InvalidArgumentError(absl::StrCat("Attribute '", name, "' is not a list."));
  return CheckedList(*value, element);
}

// Refuses values that would be cut off, as TensorFlow does for a single int.
absl::StatusOr<int32_t> ToInt32(std::string_view name, int64_t value) {
  if (value >= std::numeric_limits<int32_t>::min() &&
      value <= std::numeric_limits<int32_t>::max()) {
    return static_cast<int32_t>(value);
  }
  return absl::InvalidArgumentError(
      absl::StrCat("Attr ", name, " has value ", value, " out of range for an int32"));
}

// Writes the value, or the error. On an error *out keeps what it held.
template <typename T, typename U>
void Put(const absl::StatusOr<U>& value, T* out, TF_Status* status) {
  if (value.ok() && out == nullptr)
    return StatusToC(absl::InvalidArgumentError("argument 'val' is NULL"), status);
  if (value.ok()) *out = static_cast<T>(*value);
  StatusToC(value.status(), status);
}

// Writes at most `max` elements, the room that the plug-in has.
template <typename T, typename U>
void PutList(const absl::StatusOr<std::vector<U>>& values, T* out, int max, TF_Status* status) {
  StatusToC(values.status(), status);
  if (!values.ok()) return;
  const int n = std::min(std::max(max, 0), static_cast<int>(values->size()));
  if (!api::IsArray("vals", out, n, status)) return;
  for (int i = 0; i < n; ++i) out[i] = static_cast<T>((*values)[i]);
}

// The two sizes that TF_OpKernelConstruction_GetAttrSize answers; -1: the attribute has no such
// size.
struct Sizes {
  int32_t list = -1;   // elements of a list
  int32_t total = -1;  // bytes of all strings, dimensions of all shapes
};

// -1 for a list whose bytes do not parse: the function that gets the elements then says why.
template <typename T, typename Size>
int32_t Sum(const absl::StatusOr<std::vector<T>>& values, Size size) {
  if (!values.ok()) return -1;
  return std::accumulate(values->begin(), values->end(), int32_t{0}, [&](int32_t sum, const T& v) {
    return sum + static_cast<int32_t>(size(v));
  });
}

template <typename T>
int32_t Length(const absl::StatusOr<std::vector<T>>& values) {
  return values.ok() ? static_cast<int32_t>(values->size()) : -1;
}

// `total` is answered where a plug-in needs it to make room: bytes of strings, dimensions of
// shapes.
Sizes ListSizes(const AttrValue& value) {
  switch (value.list_kind()) {
    case AttrKind::kNone:
      return {0, -1};
    case AttrKind::kString: {
      const auto strings = value.AsStringList();
      return {Length(strings), Sum(strings, [](std::string_view s) { return s.size(); })};
    }
    case AttrKind::kShape: {
      const auto shapes = value.AsShapeList();
      return {Length(shapes),
              Sum(shapes, [](const PartialShape& s) { return std::max(0, s.rank()); })};
    }
    case AttrKind::kInt:
      return {Length(value.AsIntList()), -1};
    case AttrKind::kFloat:
      return {Length(value.AsFloatList()), -1};
    case AttrKind::kBool:
      return {Length(value.AsBoolList()), -1};
    case AttrKind::kType:
      return {Length(value.AsTypeList()), -1};
    case AttrKind::kTensor:
      return {Length(value.AsTensorWireList()), -1};
    default:
      return {0, -1};  // functions: TensorFlow counts another field
  }
}

Sizes SizesOf(const AttrValue& value) {
  switch (value.kind()) {
    case AttrKind::kList:
      return ListSizes(value);
    case AttrKind::kString: {
      const absl::StatusOr<std::string_view> s = value.AsString();
      return {-1, s.ok() ? static_cast<int32_t>(s->size()) : -1};
    }
    case AttrKind::kShape: {
      const absl::StatusOr<PartialShape> shape = value.AsShape();
      return {-1, shape.ok() ? shape->rank() : -1};
    }
    default:
      return {};
  }
}

// Copies strings one after the other into `storage`, and writes address and length of each.
absl::Status PackStrings(absl::Span<const std::string_view> strings, char** values, size_t* lengths,
                         int max, void* storage, size_t storage_size) {
  char* at = static_cast<char*>(storage);
  const int n = std::min(std::max(max, 0), static_cast<int>(strings.size()));
  if (n > 0 && (values == nullptr || lengths == nullptr))
    return absl::InvalidArgumentError("values or lengths is NULL");
  if (storage == nullptr) storage_size = 0;
  for (int i = 0; i < n; ++i) {
    values[i] = at;
    lengths[i] = strings[i].size();
    if (strings[i].size() > storage_size) {
      return absl::InvalidArgumentError("Not enough storage to hold the requested list of strings");
    }
    if (!strings[i].empty()) std::memcpy(at, strings[i].data(), strings[i].size());
    at += strings[i].size();
    storage_size -= strings[i].size();
  }
  return absl::OkStatus();
}

// Parses all tensors before it makes a handle, so that an error leaves none behind.
absl::Status TensorList(const AttrValue& value, TF_Tensor** vals, int max) {
  TENON_ASSIGN_OR_RETURN(const std::vector<std::string_view> wires, value.AsTensorWireList());
  std::vector<Tensor> tensors;
  for (std::string_view wire : wires) {
    if (static_cast<int>(tensors.size()) >= max) break;
    TENON_ASSIGN_OR_RETURN(Tensor tensor, TensorFromWire(wire));
    tensors.push_back(std::move(tensor));
  }
  if (vals == nullptr && !tensors.empty()) return absl::InvalidArgumentError("vals is NULL");
  for (size_t i = 0; i < tensors.size(); ++i) vals[i] = NewTensorHandle(std::move(tensors[i]));
  return absl::OkStatus();
}

// Runs `get` on the attribute's value; passes an error on.
template <typename Get>
auto With(const absl::StatusOr<AttrValue>& value, Get get) -> decltype(get(*value)) {
  if (!value.ok()) return value.status();
  return get(*value);
}

}  // namespace

// Files may leave out attributes that have their default value.
std::optional<AttrValue> FindAttr(const KernelNode& node, std::string_view name) {
  if (const AttrValue* value = node.attrs->Find(name)) return *value;
  const AttrDef* def = node.op->FindAttr(name);
  if (def == nullptr || !def->has_default) return std::nullopt;
  return AttrValue(def->default_wire);
}

}  // namespace tenon

using tenon::AttrKind;
using tenon::AttrValue;
using tenon::ClearStatus;
using tenon::GetList;
using tenon::GetNumbers;
using tenon::GetScalar;
using tenon::Put;
using tenon::PutList;
using tenon::StatusToC;
using tenon::With;

extern "C" {

// The first failure stays.
void TF_OpKernelConstruction_Failure(TF_OpKernelConstruction* ctx, TF_Status* status) try {
  ctx = tenon::InConstruction(ctx);
  if (ctx->status.ok()) ctx->status = tenon::StatusFromC(status);
} catch (...) {
  tenon::WithoutMemory(status);
}

TF_Buffer* TF_OpKernelConstruction_GetNodeDef(TF_OpKernelConstruction* ctx, TF_Status* status) try {
  ctx = tenon::InConstruction(ctx);
  ClearStatus(status);
  return tenon::NewBuffer(ctx->kernel->node.node_def_wire);
} catch (...) {
  return tenon::WithoutMemory(status);
}

// The view is valid as long as the kernel.
TF_StringView TF_OpKernelConstruction_GetName(TF_OpKernelConstruction* ctx) {
  ctx = tenon::InConstruction(ctx);
  return {ctx->kernel->name.data(), ctx->kernel->name.size()};
}

bool TF_OpKernelConstruction_HasAttr(TF_OpKernelConstruction* ctx, const char* attr_name,
                                     TF_Status*) try {
  ctx = tenon::InConstruction(ctx);
  return tenon::FindAttr(ctx->kernel->node, absl::NullSafeStringView(attr_name)).has_value();
} catch (...) {
  return tenon::WithoutMemory();
}

void TF_OpKernelConstruction_GetAttrSize(TF_OpKernelConstruction* ctx, const char* attr_name,
                                         int32_t* list_size, int32_t* total_size,
                                         TF_Status* status) try {
  ctx = tenon::InConstruction(ctx);
  const std::string_view name = absl::NullSafeStringView(attr_name);
  const std::optional<AttrValue> value = tenon::FindAttr(ctx->kernel->node, name);
  if (!value) StatusToC(tenon::NoSuchAttr(ctx, name), status);
  if (list_size == nullptr || total_size == nullptr)
    return StatusToC(absl::InvalidArgumentError("list_size or total_size is NULL"), status);
  // A status that is not OK on entry stays, and counts as a missing attribute, as in TensorFlow.
  if (!value || TF_GetCode(status) != TF_OK) {
    *list_size = *total_size = -1;
    return;
  }
  if (value->kind() == AttrKind::kNone) {
    return StatusToC(
        absl::InvalidArgumentError(absl::StrCat("Attribute '", name, "' has no value set")),
        status);
  }
  const tenon::Sizes sizes = tenon::SizesOf(*value);
  *list_size = sizes.list;
  *total_size = sizes.total;
} catch (...) {
  tenon::WithoutMemory(status);
}

void TF_OpKernelConstruction_GetAttrType(TF_OpKernelConstruction* ctx, const char* attr_name,
                                         TF_DataType* val, TF_Status* status) try {
  ctx = tenon::InConstruction(ctx);
  Put(With(GetScalar(ctx, attr_name, AttrKind::kType),
           [](const AttrValue& v) { return v.AsType(); }),
      val, status);
} catch (...) {
  tenon::WithoutMemory(status);
}

void TF_OpKernelConstruction_GetAttrInt32(TF_OpKernelConstruction* ctx, const char* attr_name,
                                          int32_t* val, TF_Status* status) try {
  ctx = tenon::InConstruction(ctx);
  const auto get = [attr_name](const AttrValue& v) -> absl::StatusOr<int32_t> {
    TENON_ASSIGN_OR_RETURN(const int64_t wide, v.AsInt());
    return tenon::ToInt32(absl::NullSafeStringView(attr_name), wide);
  };
  Put(With(GetScalar(ctx, attr_name, AttrKind::kInt), get), val, status);
} catch (...) {
  tenon::WithoutMemory(status);
}

void TF_OpKernelConstruction_GetAttrInt64(TF_OpKernelConstruction* ctx, const char* attr_name,
                                          int64_t* val, TF_Status* status) try {
  ctx = tenon::InConstruction(ctx);
  Put(With(GetScalar(ctx, attr_name, AttrKind::kInt), [](const AttrValue& v) { return v.AsInt(); }),
      val, status);
} catch (...) {
  tenon::WithoutMemory(status);
}

void TF_OpKernelConstruction_GetAttrFloat(TF_OpKernelConstruction* ctx, const char* attr_name,
                                          float* val, TF_Status* status) try {
  ctx = tenon::InConstruction(ctx);
  Put(With(GetScalar(ctx, attr_name, AttrKind::kFloat),
           [](const AttrValue& v) { return v.AsFloat(); }),
      val, status);
} catch (...) {
  tenon::WithoutMemory(status);
}

void TF_OpKernelConstruction_GetAttrBool(TF_OpKernelConstruction* ctx, const char* attr_name,
                                         TF_Bool* val, TF_Status* status) try {
  ctx = tenon::InConstruction(ctx);
  Put(With(GetScalar(ctx, attr_name, AttrKind::kBool),
           [](const AttrValue& v) { return v.AsBool(); }),
      val, status);
} catch (...) {
  tenon::WithoutMemory(status);
}

void TF_OpKernelConstruction_GetAttrString(TF_OpKernelConstruction* ctx, const char* attr_name,
                                           char* val, size_t max_length, TF_Status* status) try {
  ctx = tenon::InConstruction(ctx);
  const auto value = With(GetScalar(ctx, attr_name, AttrKind::kString),
                          [](const AttrValue& v) { return v.AsString(); });
  StatusToC(value.status(), status);
  if (!value.ok()) return;
  // Cut off without a NUL, as in TensorFlow: GetAttrSize says the length.
  const size_t n = std::min(max_length, value->size());
  if (n != 0 && val != nullptr) std::memcpy(val, value->data(), n);
} catch (...) {
  tenon::WithoutMemory(status);
}

void TF_OpKernelConstruction_GetAttrTensor(TF_OpKernelConstruction* ctx, const char* attr_name,
                                           TF_Tensor** val, TF_Status* status) try {
  ctx = tenon::InConstruction(ctx);
  if (val == nullptr) return StatusToC(absl::InvalidArgumentError("val is NULL"), status);
  *val = nullptr;  // on an error, too: a plug-in may delete what it finds
  const auto get = [](const AttrValue& v) -> absl::StatusOr<tenon::Tensor> {
    TENON_ASSIGN_OR_RETURN(const std::string_view wire, v.AsTensorWire());
    return tenon::TensorFromWire(wire);
  };
  absl::StatusOr<tenon::Tensor> tensor = With(GetScalar(ctx, attr_name, AttrKind::kTensor), get);
  if (tensor.ok()) *val = tenon::NewTensorHandle(*tensor);
  StatusToC(tensor.status(), status);
} catch (...) {
  tenon::WithoutMemory(status);
}

void TF_OpKernelConstruction_GetAttrTypeList(TF_OpKernelConstruction* ctx, const char* attr_name,
                                             TF_DataType* vals, int max_vals,
                                             TF_Status* status) try {
  ctx = tenon::InConstruction(ctx);
  PutList(With(GetNumbers(ctx, attr_name, AttrKind::kType),
               [](const AttrValue& v) { return v.AsTypeList(); }),
          vals, max_vals, status);
} catch (...) {
  tenon::WithoutMemory(status);
}

void TF_OpKernelConstruction_GetAttrInt32List(TF_OpKernelConstruction* ctx, const char* attr_name,
                                              int32_t* vals, int max_vals, TF_Status* status) try {
  ctx = tenon::InConstruction(ctx);
  // Values that do not fit 32 bits are cut off, as in TensorFlow; the scalar form refuses them.
  PutList(With(GetNumbers(ctx, attr_name, AttrKind::kInt),
               [](const AttrValue& v) { return v.AsIntList(); }),
          vals, max_vals, status);
} catch (...) {
  tenon::WithoutMemory(status);
}

void TF_OpKernelConstruction_GetAttrInt64List(TF_OpKernelConstruction* ctx, const char* attr_name,
                                              int64_t* vals, int max_vals, TF_Status* status) try {
  ctx = tenon::InConstruction(ctx);
  PutList(With(GetNumbers(ctx, attr_name, AttrKind::kInt),
               [](const AttrValue& v) { return v.AsIntList(); }),
          vals, max_vals, status);
} catch (...) {
  tenon::WithoutMemory(status);
}

void TF_OpKernelConstruction_GetAttrFloatList(TF_OpKernelConstruction* ctx, const char* attr_name,
                                              float* vals, int max_vals, TF_Status* status) try {
  ctx = tenon::InConstruction(ctx);
  PutList(With(GetNumbers(ctx, attr_name, AttrKind::kFloat),
               [](const AttrValue& v) { return v.AsFloatList(); }),
          vals, max_vals, status);
} catch (...) {
  tenon::WithoutMemory(status);
}

void TF_OpKernelConstruction_GetAttrBoolList(TF_OpKernelConstruction* ctx, const char* attr_name,
                                             TF_Bool* vals, int max_vals, TF_Status* status) try {
  ctx = tenon::InConstruction(ctx);
  PutList(With(GetNumbers(ctx, attr_name, AttrKind::kBool),
               [](const AttrValue& v) { return v.AsBoolList(); }),
          vals, max_vals, status);
} catch (...) {
  tenon::WithoutMemory(status);
}

void TF_OpKernelConstruction_GetAttrStringList(TF_OpKernelConstruction* ctx, const char* attr_name,
                                               char** values, size_t* lengths, int max_values,
                                               void* storage, size_t storage_size,
                                               TF_Status* status) try {
  ctx = tenon::InConstruction(ctx);
  const auto strings = With(GetList(ctx, attr_name, AttrKind::kString),
                            [](const AttrValue& v) { return v.AsStringList(); });
  StatusToC(strings.ok()
                ? tenon::PackStrings(*strings, values, lengths, max_values, storage, storage_size)
                : strings.status(),
            status);
} catch (...) {
  tenon::WithoutMemory(status);
}

void TF_OpKernelConstruction_GetAttrTensorList(TF_OpKernelConstruction* ctx, const char* attr_name,
                                               TF_Tensor** vals, int max_values,
                                               TF_Status* status) try {
  ctx = tenon::InConstruction(ctx);
  StatusToC(With(GetList(ctx, attr_name, AttrKind::kTensor),
                 [&](const AttrValue& v) { return tenon::TensorList(v, vals, max_values); }),
            status);
} catch (...) {
  tenon::WithoutMemory(status);
}

TF_Buffer* TF_OpKernelConstruction_GetAttrFunction(TF_OpKernelConstruction* ctx,
                                                   const char* attr_name, TF_Status* status) try {
  ctx = tenon::InConstruction(ctx);
  const auto func = With(GetScalar(ctx, attr_name, AttrKind::kFunc),
                         [](const AttrValue& v) { return v.AsFunc(); });
  StatusToC(func.status(), status);
  return func.ok() ? tenon::NewBuffer(func->attrs_wire) : nullptr;
} catch (...) {
  return tenon::WithoutMemory(status);
}

}  // extern "C"
