// Types and numbers of a node's inputs and outputs follow from the OpDef and the attributes: an
// argument is one tensor, N tensors of one type, or a list of types.

#include "graph/op_defs/op_def.h"

#include "absl/strings/str_join.h"
#include "graph/base/annotate.h"
#include "graph/base/status_macros.h"
#include "graph/op_defs/arg_ranges.h"
#include "graph/op_defs/attr_set.h"
#include "graph/op_defs/open_types.h"

namespace tenon {
namespace {

// More tensors than any node has: keeps a hostile attribute N from allocating memory.
constexpr int64_t kMaxTensorsOfNode = 1'000'000;

// Returns the node's value, else the default, else a value of kind kNone.
AttrValue ValueOf(const OpDef& op, const AttrSet& attrs, std::string_view name) {
  if (const AttrValue* v = attrs.Find(name)) return *v;
  const AttrDef* def = op.FindAttr(name);
  return def != nullptr && def->has_default ? AttrValue(def->default_wire) : AttrValue();
}

template <typename T>
absl::StatusOr<T> Named(std::string_view name, const AttrValue& value, absl::StatusOr<T> got) {
  if (got.ok()) return got;
  if (value.wire().empty())
    return absl::InvalidArgumentError(absl::StrCat("missing attr '", name, "'"));
  return Annotate(got.status(), absl::StrCat("attr '", name, "' "));
}

// What a placeholder in an attribute means for types that follow from it.
enum class Placeholders { kRefused, kOpen };

bool IsOpen(const AttrValue& value, Placeholders placeholders) {
  return placeholders == Placeholders::kOpen && value.kind() == AttrKind::kPlaceholder;
}

absl::StatusOr<DataType> TypeOf(const OpDef& op, const AttrSet& attrs, std::string_view name,
                                Placeholders placeholders) {
  const AttrValue v = ValueOf(op, attrs, name);
  if (IsOpen(v, placeholders)) return DataType::kInvalid;
  return Named(name, v, v.AsType());
}

absl::StatusOr<std::vector<DataType>> TypesOf(const OpDef& op, const AttrSet& attrs,
                                              std::string_view name, Placeholders placeholders) {
  const AttrDef* def = op.FindAttr(name);
  // AsTypeList takes an attribute without a value for an empty list, so a missing one is found
  // here.
  if (attrs.Find(name) == nullptr && (def == nullptr || !def->has_default))
    return absl::InvalidArgumentError(absl::StrCat("missing attr '", name, "'"));
  const AttrValue v = ValueOf(op, attrs, name);
  if (IsOpen(v, placeholders)) return std::vector<DataType>();
  return Named(name, v, v.AsTypeList());
}

absl::StatusOr<int64_t> CountOf(const OpDef& op, const AttrSet& attrs, std::string_view name) {
  const AttrValue v = ValueOf(op, attrs, name);
  TENON_ASSIGN_OR_RETURN(const int64_t n, Named(name, v, v.AsInt()));
  if (n >= 0 && n <= kMaxTensorsOfNode) return n;
  return absl::InvalidArgumentError(absl::StrCat(
      "attr '", name, "' of ", n, " is no number of tensors; it must be 0 to ", kMaxTensorsOfNode));
}

absl::Status AppendTypes(const OpDef& op, const AttrSet& attrs, const ArgDef& arg,
                         Placeholders placeholders, TypeVector* out) {
  const auto mark = [&](DataType t) {
    return arg.is_ref && t != DataType::kInvalid ? MakeRef(t) : t;
  };
  if (!arg.type_list_attr.empty()) {
    TENON_ASSIGN_OR_RETURN(const std::vector<DataType> types,
                           TypesOf(op, attrs, arg.type_list_attr, placeholders));
    for (DataType t : types) out->push_back(mark(t));
    return absl::OkStatus();
  }
  DataType type = arg.type;
  if (!arg.type_attr.empty()) {
    TENON_ASSIGN_OR_RETURN(type, TypeOf(op, attrs, arg.type_attr, placeholders));
  }
  int64_t count = 1;
  if (!arg.number_attr.empty()) {
    TENON_ASSIGN_OR_RETURN(count, CountOf(op, attrs, arg.number_attr));
  }
  out->insert(out->end(), static_cast<size_t>(count), mark(type));
  return absl::OkStatus();
}

absl::StatusOr<NodeTypes> Resolve(const OpDef& op, const AttrSet& attrs,
                                  Placeholders placeholders) {
  NodeTypes types;
  for (const ArgDef& arg : op.inputs)
    TENON_RETURN_IF_ERROR(AppendTypes(op, attrs, arg, placeholders, &types.inputs));
  for (const ArgDef& arg : op.outputs)
    TENON_RETURN_IF_ERROR(AppendTypes(op, attrs, arg, placeholders, &types.outputs));
  return types;
}

absl::StatusOr<std::pair<int, int>> Range(const OpDef& op, const AttrSet& attrs,
                                          const std::vector<ArgDef>& args, int arg) {
  if (arg < 0 || arg >= static_cast<int>(args.size())) {
    return absl::InvalidArgumentError(absl::StrCat("op '", op.name, "' has no argument ", arg));
  }
  int64_t begin = 0;
  for (int i = 0; i < arg; ++i) {
    TENON_ASSIGN_OR_RETURN(const int64_t n, ArgLength(op, attrs, args[i]));
    begin += n;
  }
  TENON_ASSIGN_OR_RETURN(const int64_t n, ArgLength(op, attrs, args[arg]));
  return std::make_pair(static_cast<int>(begin), static_cast<int>(begin + n));
}

// Collects the violations of one attribute, in TensorFlow's words.
class AttrChecker {
 public:
  AttrChecker(const AttrDef& def, AttrValue value, std::vector<std::string>* out)
      : def_(def), value_(value), out_(out) {}

  void Check() {
    // Writers leave the value of an empty list out.
    if (value_.kind() == AttrKind::kNone && !(def_.is_list && value_.wire().empty())) {
      Add("attr '", def_.name, "' has no value");
      return;
    }
    switch (def_.kind) {
      case AttrKind::kString:
        return Each(value_.AsString(), &AttrValue::AsStringList);
      case AttrKind::kInt:
        return Each(value_.AsInt(), &AttrValue::AsIntList);
      case AttrKind::kFloat:
        return Each(value_.AsFloat(), &AttrValue::AsFloatList);
      case AttrKind::kBool:
        return Each(value_.AsBool(), &AttrValue::AsBoolList);
      case AttrKind::kType:
        return Each(value_.AsType(), &AttrValue::AsTypeList);
      case AttrKind::kShape:
        return Each(value_.AsShape(), &AttrValue::AsShapeList);
      case AttrKind::kTensor:
        return Each(value_.AsTensorWire(), &AttrValue::AsTensorWireList);
      case AttrKind::kFunc:
        return Each(value_.AsFunc(), &AttrValue::AsFuncList);
      default:
        return;
    }
  }

 private:
  template <typename... Parts>
  void Add(const Parts&... parts) {
    out_->push_back(absl::StrCat(parts...));
  }

  template <typename T>
  void Each(const absl::StatusOr<T>& one,
            absl::StatusOr<std::vector<T>> (AttrValue::*list)() const) {
    if (!def_.is_list) {
      if (!one.ok()) return Add("attr '", def_.name, "' ", one.status().message());
      CheckMinimum(*one);
      return CheckElement(*one);
    }
    const absl::StatusOr<std::vector<T>> elements = (value_.*list)();
    if (!elements.ok()) return Add("attr '", def_.name, "' ", elements.status().message());
    if (def_.has_minimum && static_cast<int64_t>(elements->size()) < def_.minimum) {
      Add("length for attr '", def_.name, "' of ", elements->size(), " must be at least minimum ",
          def_.minimum);
    }
    for (const T& e : *elements) CheckElement(e);
  }

  void CheckMinimum(int64_t v) {
    if (def_.has_minimum && v < def_.minimum) {
      Add("value for attr '", def_.name, "' of ", v, " must be at least minimum ", def_.minimum);
    }
  }
  template <typename T>
  requires(!std::is_same_v<T, int64_t>) void CheckMinimum(const T&) {}

  void CheckElement(DataType t) {
    if (t == DataType::kInvalid || IsRef(t)) {
      return Add("attr '", def_.name, "' must not be ", DataTypeName(t));
    }
    const auto& allowed = def_.allowed_types;
    if (allowed.empty() || std::find(allowed.begin(), allowed.end(), t) != allowed.end()) return;
    Add("value for attr '", def_.name, "' of ", DataTypeSpecName(t),
        " is not in the list of allowed values: ",
        absl::StrJoin(allowed, ", ",
                      [](std::string* s, DataType a) { s->append(DataTypeSpecName(a)); }));
  }
  void CheckElement(std::string_view s) {
    const auto& allowed = def_.allowed_strings;
    if (allowed.empty() || std::find(allowed.begin(), allowed.end(), s) != allowed.end()) return;
    Add("value for attr '", def_.name, "' of \"", s, "\" is not in the list of allowed values: ",
        absl::StrJoin(allowed, ", ", [](std::string* o, const std::string& a) {
          absl::StrAppend(o, "\"", a, "\"");
        }));
  }
  template <typename T>
  requires(!std::is_convertible_v<T, std::string_view> &&
           !std::is_same_v<T, DataType>) void CheckElement(const T&) {}

  const AttrDef& def_;
  const AttrValue value_;
  std::vector<std::string>* out_;
};

}  // namespace

const AttrDef* OpDef::FindAttr(std::string_view attr_name) const {
  for (const AttrDef& a : attrs) {
    if (a.name == attr_name) return &a;
  }
  return nullptr;
}

absl::StatusOr<NodeTypes> ResolveTypes(const OpDef& op, const AttrSet& attrs) {
  return Resolve(op, attrs, Placeholders::kRefused);
}

absl::StatusOr<NodeTypes> ResolveOpenTypes(const OpDef& op, const AttrSet& attrs) {
  return Resolve(op, attrs, Placeholders::kOpen);
}

std::vector<std::string> CheckAttrs(const OpDef& op, const AttrSet& attrs) {
  std::vector<std::string> wrong;
  for (const AttrDef& def : op.attrs) {
    if (const AttrValue* v = attrs.Find(def.name)) {
      AttrChecker(def, *v, &wrong).Check();
    } else if (!def.has_default) {
      wrong.push_back(absl::StrCat("missing attr '", def.name, "'"));
    }
  }
  return wrong;
}

absl::StatusOr<int64_t> ArgLength(const OpDef& op, const AttrSet& attrs, const ArgDef& arg) {
  if (!arg.number_attr.empty()) return CountOf(op, attrs, arg.number_attr);
  if (arg.type_list_attr.empty()) return 1;
  TENON_ASSIGN_OR_RETURN(const std::vector<DataType> types,
                         TypesOf(op, attrs, arg.type_list_attr, Placeholders::kRefused));
  return static_cast<int64_t>(types.size());
}

absl::StatusOr<std::pair<int, int>> InputRange(const OpDef& op, const AttrSet& attrs, int arg) {
  return Range(op, attrs, op.inputs, arg);
}

absl::StatusOr<std::pair<int, int>> OutputRange(const OpDef& op, const AttrSet& attrs, int arg) {
  return Range(op, attrs, op.outputs, arg);
}

}  // namespace tenon
