// Errors, with TensorFlow's messages, for attributes that a plug-in asks for.
#pragma once

#include <string_view>

#include "absl/status/status.h"
#include "graph/op_defs/attr_value.h"

namespace tenon {

// NOT_FOUND: the node has no such attribute.
absl::Status MissingAttr(std::string_view name, std::string_view node);
// INVALID_ARGUMENT: the attribute is not of type `expected` ("int", "list(int)", …). `value` has
// another type, holds no value, or is a placeholder. An empty list counts as no value.
absl::Status WrongAttrType(const AttrValue& value, std::string_view expected);

}  // namespace tenon
