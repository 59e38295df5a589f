#include "graph/op_defs/attr_text.h"

#include "absl/strings/str_cat.h"

namespace tenon {

std::string PlainAttrText(const AttrValue& value) {
  switch (value.kind()) {
    case AttrKind::kInt:
      return absl::StrCat(value.AsInt().value_or(0));
    case AttrKind::kFloat:
      return absl::StrCat(value.AsFloat().value_or(0));
    case AttrKind::kBool:
      return value.AsBool().value_or(false) ? "true" : "false";
    case AttrKind::kShape:
      return value.AsShape().value_or(PartialShape()).ToString();
    default:
      return "";
  }
}

}  // namespace tenon
