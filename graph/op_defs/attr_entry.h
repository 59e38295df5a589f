// Writes attributes as entries of NodeDef.attr, a map.
#pragma once

#include <cstddef>
#include <string>

#include "graph/op_defs/attr_set.h"

namespace tenon {

// AttrEntryBytes returns the size of the entry in bytes, its own tag and length included.
// AppendAttrEntry appends just these bytes. A writer asks for the size first, so that a large
// constant is copied once.
size_t AttrEntryBytes(const Attr& attr);
void AppendAttrEntry(const Attr& attr, std::string* out);

}  // namespace tenon
