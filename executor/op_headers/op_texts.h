// What the texts in graph/op_docs say of an op.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"

namespace tenon::op_headers {

struct OpText {
  std::string sentence;  // what the op computes
  // By the name of an input, output or attribute, in the order of the file.
  std::vector<std::pair<std::string, std::string>> lines;

  // What is said of a name; empty if nothing is.
  std::string_view Find(std::string_view name) const;
};
using OpTexts = std::map<std::string, OpText, std::less<>>;

// Reads all files *.txt of the folder, whose README.md tells their form. NOT_FOUND if they have no
// text of any op, as where there is no such folder; INVALID_ARGUMENT for a line that has not the
// form. A file that cannot be read counts as empty.
absl::StatusOr<OpTexts> ReadOpTexts(const std::string& folder);

}  // namespace tenon::op_headers
