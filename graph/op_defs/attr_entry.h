// Attributes as entries of a NodeDef's map.
#pragma once

#include <cstddef>
#include <string>

#include "graph/op_defs/attr_set.h"

namespace tenon {

// The bytes of the entry, its tag and length among them.
size_t AttrEntryBytes(const Attr& attr);
void AppendAttrEntry(const Attr& attr, std::string* out);

}  // namespace tenon
