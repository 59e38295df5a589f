// A quick way through a GraphDef's text as tools write it. Private to graph/io/.
#pragma once

#include <optional>
#include <string_view>

#include "graph/io/text_import.h"

namespace tenon {

// The bytes and places that protobuf's own parser and serializer would give. nullopt for text with
// an error and for syntax that is rare: that parser, some ten times slower, is to say what it is.
// Linear in the text.
std::optional<TextGraph> ParsePlainGraphText(std::string_view text, int64_t max_depth);

}  // namespace tenon
