// Recognizes files that people take for graphs and that are something else. Private to graph/io/.
#pragma once

#include <string_view>

namespace tenon {

// Returns what a file with this content is instead of a graph, and of most kinds what to do with
// it: "is a NumPy array, not a graph: …". Empty for what may be a GraphDef, text or binary. Reads
// the start, the end and single fields only. The text is a constant.
std::string_view WhatItIsInstead(std::string_view content);

// The same by the name of a file that could not be read as a graph, where the content tells
// nothing: the values of a checkpoint (.data-00000-of-00001) are bare bytes.
std::string_view WhatItsNameSays(std::string_view path);

}  // namespace tenon
