#include "executor/api/eager/call_node.h"

#include <algorithm>
#include <atomic>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "executor/api/base/attr_checks.h"
#include "executor/api/base/op_text.h"
#include "graph/base/annotate.h"
#include "graph/base/status_macros.h"
#include "graph/wire/versions.h"

namespace tenon::eager {
namespace {

bool HasReference(const TypeVector& types) {
  return std::any_of(types.begin(), types.end(), IsRef);
}

// Whether the attribute says the number or the types of arguments or results.
bool DecidesTypes(const OpDef& def, const std::string& attr) {
  const auto names = [&attr](const ArgDef& arg) {
    return arg.type_attr == attr || arg.number_attr == attr || arg.type_list_attr == attr;
  };
  return std::any_of(def.inputs.begin(), def.inputs.end(), names) ||
         std::any_of(def.outputs.begin(), def.outputs.end(), names);
}

}  // namespace

CallNode::CallNode(const OpDef& op_def, const OpAttrs& given) : name(op_def.name), def(&op_def) {
  for (auto& [attr, wire] : given.All()) values.emplace_back(attr, std::move(wire));
  std::vector<Attr> views;
  for (const auto& [attr, wire] : values) views.push_back({attr, AttrValue(wire)});
  attrs = AttrSet(std::move(views));
}

void CallNode::TakeOwnName() {
  static std::atomic<int64_t> next{0};
  name = absl::StrCat(def->name, "_", next.fetch_add(1, std::memory_order_relaxed));
}

absl::Status CallNode::Resolve() {
  const std::string node = api::NodeNameText(name);
  // TensorFlow looks for types before it looks at the other attributes.
  for (const AttrDef& attr : def->attrs) {
    if (attr.has_default || attrs.Find(attr.name) != nullptr || !DecidesTypes(*def, attr.name))
      continue;
    return absl::NotFoundError(
        absl::StrCat("No attr named '", attr.name, "' in NodeDef:\n\t [[", node, "]]"));
  }
  for (const AttrDef& attr : def->attrs) {
    const AttrValue* const value = attrs.Find(attr.name);
    if (value == nullptr && !attr.has_default) {
      return MissingAttrs();
    }
    if (value == nullptr) continue;
    if (const absl::Status wrong = api::CheckAttr(attr, *value); !wrong.ok())
      return Annotate(wrong, "", absl::StrCat("\n\t; NodeDef: ", node, "; ", api::OpText(*def)));
  }
  TENON_ASSIGN_OR_RETURN(types, ResolveTypes(*def, attrs));
  return absl::OkStatus();
}

absl::Status CallNode::MissingAttrs() const {
  std::vector<std::string> missing;
  for (const AttrDef& attr : def->attrs) {
    if (!attr.has_default && attrs.Find(attr.name) == nullptr)
      missing.push_back(absl::StrCat("'", attr.name, "'"));
  }
  if (missing.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "NodeDef missing attr", missing.size() > 1 ? "s " : " ", absl::StrJoin(missing, ", "),
      " from ", api::OpText(*def), "; NodeDef: ", api::NodeNameText(name)));
}

absl::Status CallNode::CheckInputs(Inputs inputs) const {
  if (types.inputs.size() != inputs.size()) {
    const std::string wanted = absl::StrJoin(
        types.inputs, ", ", [](std::string* out, DataType t) { out->append(api::TypeText(t)); });
    return absl::InvalidArgumentError(absl::StrCat(
        "NodeDef expected inputs '", wanted, "' do not match ", inputs.size(),
        " inputs specified; ", api::OpText(*def), "; NodeDef: ", api::NodeNameText(name)));
  }
  TENON_RETURN_IF_ERROR(api::CheckDeprecation(*def, kGraphDefVersion));
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (types.inputs[i] == inputs[i]->dtype) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("cannot compute ", def->name, " as input #", i,
                     "(zero-based) was expected to be a ", api::TypeText(types.inputs[i]),
                     " tensor but is a ", api::TypeText(inputs[i]->dtype), " tensor"));
  }
  if (!HasReference(types.outputs)) return absl::OkStatus();
  return absl::UnimplementedError(
      absl::StrCat(def->name, " gives references; an op that is executed alone gives values"));
}

}  // namespace tenon::eager
