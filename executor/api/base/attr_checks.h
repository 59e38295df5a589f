// Checks of attributes, with TensorFlow's messages.
#pragma once

#include "absl/status/status.h"
#include "graph/op_defs/op_def.h"

namespace tenon::api {

// Whether `value` has the type that `def` asks for, is not below its minimum and is allowed. For a
// list the minimum is one of its length, and each element must be allowed. A value that is not set
// counts as an empty list. Placeholders, reference types and what does not decode are refused.
// INVALID_ARGUMENT: "Value for attr 'T' of string is not in the list of allowed values: float",
// "AttrValue had value with type 'int' when 'type' expected for attr 'T'" and the like.
absl::Status CheckAttr(const AttrDef& def, const AttrValue& value);

// Whether two values are the same, whatever the form of their bytes. Tensors are compared by their
// elements, those in a list by their bytes. Tensors that do not decode differ unless all bytes are
// equal.
bool SameAttr(const AttrValue& a, const AttrValue& b);

}  // namespace tenon::api
