#include "plugin/kernels/kernel.h"

#include "absl/strings/str_cat.h"
#include "graph/base/annotate.h"
#include "graph/base/status_macros.h"

namespace tenon {
namespace {

// The same status with the attribute's name before its message: a value knows its kind, not its
// name.
absl::Status NameAttr(std::string_view name, const absl::Status& status) {
  return Annotate(status, absl::StrCat("attribute '", name, "' "));
}

template <typename T>
absl::StatusOr<T> Named(std::string_view name, absl::StatusOr<T> value) {
  if (value.ok()) return value;
  return NameAttr(name, value.status());
}

}  // namespace

Prepare::Prepare(std::string_view node_name, const OpDef& op, const AttrSet& attrs,
                 const NodeTypes& types, std::vector<Input> inputs, SessionState& session,
                 Workers& workers)
    : Preparation(op, types, std::move(inputs)),
      node_name_(node_name),
      attrs_(&attrs),
      session_(&session),
      workers_(&workers) {}

// Files may leave out attributes that have their default value.
absl::StatusOr<AttrValue> Prepare::AttrOf(std::string_view name) const {
  if (const AttrValue* value = attrs_->Find(name)) return *value;
  const AttrDef* def = op_->FindAttr(name);
  if (def != nullptr && def->has_default) return AttrValue(def->default_wire);
  return absl::InvalidArgumentError(
      absl::StrCat("attribute '", name, "' of ", op_->name, " is missing"));
}

absl::StatusOr<int64_t> Prepare::AttrInt(std::string_view name) const {
  TENON_ASSIGN_OR_RETURN(const AttrValue value, AttrOf(name));
  return Named(name, value.AsInt());
}

absl::StatusOr<bool> Prepare::AttrBool(std::string_view name) const {
  TENON_ASSIGN_OR_RETURN(const AttrValue value, AttrOf(name));
  return Named(name, value.AsBool());
}

absl::StatusOr<float> Prepare::AttrFloat(std::string_view name) const {
  TENON_ASSIGN_OR_RETURN(const AttrValue value, AttrOf(name));
  return Named(name, value.AsFloat());
}

absl::StatusOr<std::string_view> Prepare::AttrString(std::string_view name) const {
  TENON_ASSIGN_OR_RETURN(const AttrValue value, AttrOf(name));
  return Named(name, value.AsString());
}

absl::StatusOr<DataType> Prepare::AttrType(std::string_view name) const {
  TENON_ASSIGN_OR_RETURN(const AttrValue value, AttrOf(name));
  return Named(name, value.AsType());
}

absl::StatusOr<PartialShape> Prepare::AttrShape(std::string_view name) const {
  TENON_ASSIGN_OR_RETURN(const AttrValue value, AttrOf(name));
  return Named(name, value.AsShape());
}

absl::StatusOr<std::vector<int64_t>> Prepare::AttrIntList(std::string_view name) const {
  TENON_ASSIGN_OR_RETURN(const AttrValue value, AttrOf(name));
  return Named(name, value.AsIntList());
}

absl::StatusOr<std::vector<std::string_view>> Prepare::AttrStringList(std::string_view name) const {
  TENON_ASSIGN_OR_RETURN(const AttrValue value, AttrOf(name));
  return Named(name, value.AsStringList());
}

absl::StatusOr<Dims> Prepare::InputInts(int i) const {
  const Tensor* value = input_value(i);
  if (value == nullptr)
    return absl::InternalError(absl::StrCat("the value of input ", i, " is not known"));
  const DataType type = value->dtype();
  const bool integers = type == DataType::kInt8 || type == DataType::kInt16 ||
                        type == DataType::kInt32 || type == DataType::kInt64;
  if (!integers || value->shape().rank() > 1) {
    return Invalid(absl::StrCat(
        "input ", i, " must be a scalar or vector of int8, int16, int32 or int64, it is ",
        DataTypeName(type), value->shape().ToString()));
  }
  const int64_t n = value->num_elements();
  Dims ints(n);
  for (int64_t k = 0; k < n; ++k) ints[k] = value->IntAt(k);
  return ints;
}

namespace {

// The message with op, types and shapes: "… (Add of float[2], float[3])". The executor adds the
// node.
std::string Describe(const Prepare& p, std::string_view message) {
  std::string text = absl::StrCat(message, " (", p.op().name, " of");
  for (int i = 0; i < p.num_inputs(); ++i) {
    absl::StrAppend(&text, i == 0 ? " " : ", ", DataTypeName(p.input_type(i)),
                    p.input_shape(i).ToString());
  }
  if (p.num_inputs() == 0) text += " no inputs";
  return text + ")";
}

}  // namespace

absl::Status Prepare::Invalid(std::string_view message) const {
  return absl::InvalidArgumentError(Describe(*this, message));
}

absl::Status Prepare::Unimplemented(std::string_view message) const {
  return absl::UnimplementedError(Describe(*this, message));
}

}  // namespace tenon
