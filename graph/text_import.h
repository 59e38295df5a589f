// GraphDef text to wire bytes, with the places of its nodes. Private to graph/.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "graph/graph.h"

namespace tenon {

struct TextGraph {
  std::string wire;
  std::vector<SourcePos> node_pos;
  std::vector<SourcePos> function_pos;
  SourcePos versions_pos;
};

// INVALID_ARGUMENT "name:line:col: …" for the first error: syntax, unknown fields and enumerators,
// nesting beyond `max_depth`.
absl::StatusOr<TextGraph> ParseGraphText(std::string_view text, const std::string& name,
                                         int64_t max_depth);

// GraphDef bytes as text.
absl::StatusOr<std::string> PrintGraphText(std::string_view wire);

// Whether these bytes look like text; a damaged file counts as what most of it is.
bool LooksLikeText(std::string_view bytes);

}  // namespace tenon
