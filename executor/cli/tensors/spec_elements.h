// The element lists of a SPEC: "1 2,3", "[[1 2][3 4]]".
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "graph/tensor/shape.h"
#include "graph/tensor/tensor.h"

namespace tenon::cli {

struct SpecElements {
  std::vector<std::string> tokens;  // strings without their quotes, escapes resolved
  bool quoted = false;              // some token was a quoted string
  bool nested = false;              // brackets were used
  Dims dims;                        // the shape that the brackets spell; empty without brackets
};

// INVALID_ARGUMENT names the character position (1-based) of a missing bracket, a ragged row, an
// unfinished string.
absl::StatusOr<SpecElements> SplitElements(std::string_view text);

// Stores token `text` as element i. INVALID_ARGUMENT: "element 3: '256' is no u8 (0 to 255)".
absl::Status StoreElement(const Tensor& t, int64_t i, const std::string& text);

}  // namespace tenon::cli
