// GraphDef and SavedModel text to wire bytes, with the places of the nodes. Private to graph/.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "graph/io/graph_reader.h"

namespace tenon {

struct TextGraph {
  std::string wire;
  TextPositions positions;
};

// INVALID_ARGUMENT "name:line:col: …" for the first error: syntax, unknown fields and enumerators,
// nesting beyond `max_depth`.
absl::StatusOr<TextGraph> ParseGraphText(std::string_view text, const std::string& name,
                                         int64_t max_depth);
// The same by protobuf's parser alone, without the quick way of plain_text.h.
absl::StatusOr<TextGraph> ParseGraphTextWithProtobuf(std::string_view text, const std::string& name,
                                                     int64_t max_depth);

struct TextSavedModel {
  std::string wire;
  std::vector<TextPositions> graphs;  // of each MetaGraphDef
};
absl::StatusOr<TextSavedModel> ParseSavedModelText(std::string_view text, const std::string& name,
                                                   int64_t max_depth);

// GraphDef bytes as text.
absl::StatusOr<std::string> PrintGraphText(std::string_view wire);

// Whether these bytes look like text; a damaged file counts as what most of it is.
bool LooksLikeText(std::string_view bytes);

}  // namespace tenon
