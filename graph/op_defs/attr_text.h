// Shows values of attributes to people.
#pragma once

#include <string>

#include "graph/op_defs/attr_value.h"

namespace tenon {

// Returns the text of an int, a float, a bool or a shape: "3", "0.5", "true", "[2,?]". Returns an
// empty text for other kinds and for malformed bytes.
std::string PlainAttrText(const AttrValue& value);

}  // namespace tenon
