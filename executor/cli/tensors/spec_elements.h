// Parses the element lists of a SPEC: "1 2,3", "[[1 2][3 4]]".
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "graph/tensor/shape.h"
#include "graph/tensor/tensor.h"

namespace tenon::cli {

// An element list in its parts.
struct SpecElements {
  std::vector<std::string> tokens;  // without quotes, with escapes resolved
  bool quoted = false;              // some token was in quotes
  bool nested = false;              // there were brackets
  Dims dims;                        // the shape of the brackets; empty without brackets
};

// Splits an element list. INVALID_ARGUMENT names the character (counted from 1) of a missing
// bracket, a row of another length, or a string without end.
absl::StatusOr<SpecElements> SplitElements(std::string_view text);

// Parses `text` as an element of t's type and stores it as element i, which must exist.
// INVALID_ARGUMENT: "element 3: '256' is no u8 (0 to 255)".
absl::Status StoreElement(const Tensor& t, int64_t i, const std::string& text);

}  // namespace tenon::cli
