// Files that people take for graphs and that are something else. Private to graph/io/.
#pragma once

#include <string_view>

namespace tenon {

// Says what a file with this content is instead of a graph, and how to use it: "is a NumPy array:
// …". Empty for what may be a GraphDef, text or binary. Reads the begin, the end and single fields
// only.
std::string_view WhatItIsInstead(std::string_view content);

}  // namespace tenon
