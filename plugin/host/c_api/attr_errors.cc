#include "plugin/host/c_api/attr_errors.h"

#include <string>

#include "absl/strings/str_cat.h"

namespace tenon {
namespace {

std::string TypeText(const AttrValue& value) {
  if (value.kind() != AttrKind::kList) return std::string(AttrKindName(value.kind()));
  return absl::StrCat("list(", AttrKindName(value.list_kind()), ")");
}

}  // namespace

absl::Status MissingAttr(std::string_view name, std::string_view node) {
  // TensorFlow leaves the node out for names with '_', which are often missing.
  const bool internal = name.substr(0, 1) == "_";
  return absl::NotFoundError(
      absl::StrCat("No attr named '", name,
                   "' in NodeDef:", internal ? "" : absl::StrCat("\n\t [[{{node ", node, "}}]]")));
}

absl::Status WrongAttrType(const AttrValue& value, std::string_view expected) {
  // The bytes of an empty list do not tell its type, so it counts as missing.
  const bool empty_list = value.kind() == AttrKind::kList && value.list_kind() == AttrKind::kNone;
  if (value.kind() == AttrKind::kNone || empty_list) {
    return absl::InvalidArgumentError(
        absl::StrCat("AttrValue missing value with expected type '", expected, "'"));
  }
  if (value.kind() == AttrKind::kPlaceholder) {
    return absl::InvalidArgumentError("AttrValue had value with unexpected type 'placeholder'");
  }
  return absl::InvalidArgumentError(absl::StrCat("AttrValue had value with type '", TypeText(value),
                                                 "' when '", expected, "' expected"));
}

}  // namespace tenon
