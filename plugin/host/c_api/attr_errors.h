// TensorFlow's words for what is wrong with an attribute that a plug-in asks for.
#pragma once

#include <string_view>

#include "absl/status/status.h"
#include "graph/op_defs/attr_value.h"

namespace tenon {

// NOT_FOUND.
absl::Status MissingAttr(std::string_view name, std::string_view node);
// INVALID_ARGUMENT; `expected` is "int", "list(int)" ...
absl::Status WrongAttrType(const AttrValue& value, std::string_view expected);

}  // namespace tenon
