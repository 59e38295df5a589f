// Files that people take for graphs and that are something else. Private to graph/io/.
#pragma once

#include <string_view>

namespace tenon {

// What a file with this content is, and what to do with it: "is a NumPy array: …". Empty for what
// may be a GraphDef, as text or binary. Looks at a few places only.
std::string_view WhatItIsInstead(std::string_view content);

}  // namespace tenon
