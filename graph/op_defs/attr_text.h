// Values of attributes for people.
#pragma once

#include <string>

#include "graph/op_defs/attr_value.h"

namespace tenon {

// "3", "0.5", "true", "[2,?]": of integers, floats, bools and shapes. Empty for other kinds.
std::string PlainAttrText(const AttrValue& value);

}  // namespace tenon
