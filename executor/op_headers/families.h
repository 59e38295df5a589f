// Which header an op's wrapper stands in.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace tenon::op_headers {

// A header, tenon/ops/<name>.h, and the ops in it by name.
struct Family {
  std::string_view name;
  std::string_view content;  // "Elementwise math, reductions and products of matrices"
  std::vector<std::string_view> ops;
};

// Returns all families, sorted by name. Each op that has a row in graph/ops, and a name that begins
// with a letter, is in one of them; ops of graph/ops/signatures are in none. The texts live as long
// as the process. INTERNAL if an entry of the table in families.cc fits no op that no earlier entry
// has taken, or names no header.
absl::StatusOr<std::vector<Family>> Families();

}  // namespace tenon::op_headers
