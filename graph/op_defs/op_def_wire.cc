// OpDefs to and from protobuf bytes.
#include "graph/op_defs/full_types.h"
#include "graph/op_defs/op_def.h"
#include "proto/op_def.pb.h"

namespace tenon {
namespace {

// In the order of AttrKind.
constexpr std::string_view kKinds[] = {"",     "string", "int",    "float", "bool",
                                       "type", "shape",  "tensor", "func"};

void ArgToProto(const ArgDef& arg, pb::OpDef::ArgDef* out) {
  out->set_name(arg.name);
  out->set_type(static_cast<pb::DataType>(arg.type));
  out->set_type_attr(arg.type_attr);
  out->set_number_attr(arg.number_attr);
  out->set_type_list_attr(arg.type_list_attr);
  out->set_is_ref(arg.is_ref);
}

void AttrToProto(const AttrDef& attr, pb::OpDef::AttrDef* out) {
  out->set_name(attr.name);
  const std::string_view kind = AttrKindName(attr.kind);
  out->set_type(attr.is_list ? absl::StrCat("list(", kind, ")") : std::string(kind));
  if (attr.has_default) out->mutable_default_value()->ParseFromString(attr.default_wire);
  out->set_has_minimum(attr.has_minimum);
  out->set_minimum(attr.minimum);
  for (DataType t : attr.allowed_types) {
    out->mutable_allowed_values()->mutable_list()->add_type(static_cast<pb::DataType>(t));
  }
  for (const std::string& s : attr.allowed_strings)
    out->mutable_allowed_values()->mutable_list()->add_s(s);
}

absl::StatusOr<DataType> CheckedType(int32_t t, std::string_view where) {
  if (t == 0 || IsKnownDataType(t)) return static_cast<DataType>(t);
  return absl::InvalidArgumentError(absl::StrCat("'", where, "' has the unknown data type ", t));
}

absl::StatusOr<ArgDef> ArgFromProto(const pb::OpDef::ArgDef& in) {
  const absl::StatusOr<DataType> type = CheckedType(in.type(), in.name());
  if (!type.ok()) return type.status();
  const int ways =
      (*type != DataType::kInvalid) + !in.type_attr().empty() + !in.type_list_attr().empty();
  if (ways != 1 || (!in.number_attr().empty() && !in.type_list_attr().empty())) {
    return absl::InvalidArgumentError(absl::StrCat(
        "argument '", in.name(), "' must have one of type, type_attr and type_list_attr"));
  }
  return ArgDef{in.name(),           *type,      in.type_attr(), in.number_attr(),
                in.type_list_attr(), in.is_ref()};
}

absl::StatusOr<AttrDef> AttrFromProto(const pb::OpDef::AttrDef& in) {
  AttrDef out;
  out.name = in.name();
  std::string_view kind = in.type();
  if (kind.starts_with("list(") && kind.ends_with(")")) {
    out.is_list = true;
    kind = kind.substr(5, kind.size() - 6);
  }
  const auto* known = std::find(std::begin(kKinds) + 1, std::end(kKinds), kind);
  if (known == std::end(kKinds)) {
    return absl::InvalidArgumentError(
        absl::StrCat("attr '", in.name(), "' has the unknown type '", in.type(), "'"));
  }
  out.kind = static_cast<AttrKind>(known - std::begin(kKinds));
  out.has_default = in.has_default_value();
  if (out.has_default) in.default_value().SerializeToString(&out.default_wire);
  out.has_minimum = in.has_minimum();
  out.minimum = in.minimum();
  for (int t : in.allowed_values().list().type()) {
    const absl::StatusOr<DataType> type = CheckedType(t, in.name());
    if (!type.ok()) return type.status();
    out.allowed_types.push_back(*type);
  }
  for (const std::string& s : in.allowed_values().list().s()) out.allowed_strings.push_back(s);
  return out;
}

// Each attribute that an argument names must exist with a fitting type: ResolveTypes relies on it.
absl::Status CheckReference(const OpDef& op, const ArgDef& arg, std::string_view attr,
                            AttrKind kind, bool list) {
  if (attr.empty()) return absl::OkStatus();
  const AttrDef* def = op.FindAttr(attr);
  if (def != nullptr && def->kind == kind && def->is_list == list) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("argument '", arg.name, "' of op '", op.name,
                                                 "' needs an attr '", attr, "' of type ",
                                                 list ? "list(type)" : AttrKindName(kind)));
}

absl::Status CheckReferences(const OpDef& op, const std::vector<ArgDef>& args) {
  for (const ArgDef& arg : args) {
    if (auto s = CheckReference(op, arg, arg.type_attr, AttrKind::kType, false); !s.ok()) return s;
    if (auto s = CheckReference(op, arg, arg.number_attr, AttrKind::kInt, false); !s.ok()) return s;
    if (auto s = CheckReference(op, arg, arg.type_list_attr, AttrKind::kType, true); !s.ok())
      return s;
  }
  return absl::OkStatus();
}

template <typename In, typename Out, typename Convert>
absl::Status ConvertAll(const In& in, std::vector<Out>* out, Convert convert) {
  for (const auto& element : in) {
    auto converted = convert(element);
    if (!converted.ok()) return converted.status();
    out->push_back(*std::move(converted));
  }
  return absl::OkStatus();
}

}  // namespace

std::string OpDefToWire(const OpDef& op) {
  pb::OpDef out;
  out.set_name(op.name);
  for (const ArgDef& a : op.inputs) ArgToProto(a, out.add_input_arg());
  for (const ArgDef& a : op.outputs) ArgToProto(a, out.add_output_arg());
  for (const AttrDef& a : op.attrs) AttrToProto(a, out.add_attr());
  for (const std::string& c : op.control_outputs) out.add_control_output(c);
  out.set_is_stateful(op.is_stateful);
  out.set_is_commutative(op.is_commutative);
  out.set_is_aggregate(op.is_aggregate);
  out.set_allows_uninitialized_input(op.allows_uninitialized_input);
  if (op.deprecated_since > 0) {
    out.mutable_deprecation()->set_version(op.deprecated_since);
    out.mutable_deprecation()->set_explanation(op.deprecation);
  }
  AddWhatTensorFlowHas(out);
  return out.SerializeAsString();
}

absl::StatusOr<OpDef> OpDefFromWire(std::string_view wire) {
  const google::protobuf::LogSilencer silence;
  pb::OpDef in;
  if (wire.size() > INT32_MAX || !in.ParseFromArray(wire.data(), static_cast<int>(wire.size()))) {
    return absl::DataLossError("malformed OpDef bytes");
  }
  OpDef op;
  op.name = in.name();
  if (auto s = ConvertAll(in.attr(), &op.attrs, AttrFromProto); !s.ok()) return s;
  if (auto s = ConvertAll(in.input_arg(), &op.inputs, ArgFromProto); !s.ok()) return s;
  if (auto s = ConvertAll(in.output_arg(), &op.outputs, ArgFromProto); !s.ok()) return s;
  if (auto s = CheckReferences(op, op.inputs); !s.ok()) return s;
  if (auto s = CheckReferences(op, op.outputs); !s.ok()) return s;
  op.control_outputs.assign(in.control_output().begin(), in.control_output().end());
  op.is_stateful = in.is_stateful();
  op.is_commutative = in.is_commutative();
  op.is_aggregate = in.is_aggregate();
  op.allows_uninitialized_input = in.allows_uninitialized_input();
  op.deprecated_since = in.deprecation().version();
  op.deprecation = in.deprecation().explanation();
  return op;
}

}  // namespace tenon
