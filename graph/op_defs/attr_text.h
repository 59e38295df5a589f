// Shows values of attributes to people.
#pragma once

#include <string>

#include "graph/op_defs/attr_value.h"

namespace tenon {

// Returns the text of an int, a float, a bool or a shape: "3", "0.5", "true", "[2,?]". A shape that
// AsShape refuses reads as one of unknown rank. Returns an empty text for other kinds, and for
// bytes that are no AttrValue.
std::string PlainAttrText(const AttrValue& value);

}  // namespace tenon
