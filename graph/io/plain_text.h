// Parses the text of a GraphDef as tools write it, quickly.
// Private to graph/io/.
#pragma once

#include <optional>
#include <string_view>

#include "graph/io/text_import.h"

namespace tenon {

// Returns the bytes and positions that protobuf's own parser and serializer would give. Returns
// nullopt for text with an error, for rare syntax and where messages nest more than 65 or
// `max_depth` deep (the GraphDef is 1): the caller then uses protobuf's parser, which is some ten
// times slower and reports the error. Linear in a text whose messages have their fields in the
// order of the fields' numbers.
// Thread-safe.
std::optional<TextGraph> ParsePlainGraphText(std::string_view text, int64_t max_depth);

}  // namespace tenon
