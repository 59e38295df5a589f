// Shows values of attributes to people.
#pragma once

#include <string>

#include "graph/op_defs/attr_value.h"

namespace tenon {

// Returns the text of an int, a float, a bool or a shape: "3", "0.5", "true", "[2,?]". Empty for
// other kinds.
std::string PlainAttrText(const AttrValue& value);

}  // namespace tenon
