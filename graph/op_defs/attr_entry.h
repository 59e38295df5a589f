// Writes attributes as entries of NodeDef.attr, a map.
#pragma once

#include <cstddef>
#include <string>

#include "graph/op_defs/attr_set.h"

namespace tenon {

// AttrEntryBytes: the size of the entry, its tag and length included. AppendAttrEntry writes these
// bytes.
size_t AttrEntryBytes(const Attr& attr);
void AppendAttrEntry(const Attr& attr, std::string* out);

}  // namespace tenon
