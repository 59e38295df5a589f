// Makes wire bytes of the text of a GraphDef or SavedModel, with the positions of nodes, functions
// and versions.
// Private to graph/.
#pragma once

#include <climits>
#include <cstddef>
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

// Parses the text of a GraphDef. `name` stands for the file in messages. INVALID_ARGUMENT
// "name:line:column: …" for the first error: syntax, unknown fields and enumerators, nesting beyond
// `max_depth` (a number above 1000 counts as 1000, one below 2 as 2). INVALID_ARGUMENT "name: …"
// for text or bytes above kMaxTextBytes.
absl::StatusOr<TextGraph> ParseGraphText(std::string_view text, const std::string& name,
                                         int64_t max_depth);
// ParseGraphText with protobuf's parser alone, without the quick way of plain_text.h.
absl::StatusOr<TextGraph> ParseGraphTextWithProtobuf(std::string_view text, const std::string& name,
                                                     int64_t max_depth);

struct TextSavedModel {
  std::string wire;
  std::vector<TextPositions> graphs;  // of each MetaGraphDef
};
// Parses the text of a SavedModel, with the errors of ParseGraphText.
absl::StatusOr<TextSavedModel> ParseSavedModelText(std::string_view text, const std::string& name,
                                                   int64_t max_depth);

// Protobuf reads no longer text.
inline constexpr size_t kMaxTextBytes = INT_MAX;
// Returns the text of GraphDef bytes. `limit` must not exceed kMaxTextBytes. INVALID_ARGUMENT for
// malformed bytes, and if these bytes or the text are more than `limit` bytes. INTERNAL if protobuf
// cannot print.
absl::StatusOr<std::string> PrintGraphText(std::string_view wire, size_t limit = kMaxTextBytes);

// Whether these bytes look like text. Judges by the first 4096 bytes and the first node. What
// begins as text and has fewer than one control character in 128 counts as text, so that the errors
// of a damaged text are those of text. No bytes, blanks, two or more bytes without a control
// character, and whatever begins with the byte order mark of UTF-8 count as text too. But bytes
// that begin with a whole binary node are never text.
bool LooksLikeText(std::string_view bytes);

}  // namespace tenon
