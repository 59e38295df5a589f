// Which tensors of a node are which argument or result of its op.
#pragma once

#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "graph/op_defs/op_def.h"

namespace tenon {

// All arguments (or all results) of an op at once, to be found by their names, of which it holds
// views.
class ArgRanges {
 public:
  using Range = std::pair<int, int>;  // half-open

  // `args`: the op's inputs or outputs. INVALID_ARGUMENT for attributes that do not fit.
  static absl::StatusOr<ArgRanges> Of(const OpDef& op, const AttrSet& attrs,
                                      const std::vector<ArgDef>& args);
  // Null if the op has none of that name.
  const Range* Find(std::string_view name) const {
    const auto it = by_name_.find(name);
    return it == by_name_.end() ? nullptr : &it->second;
  }

 private:
  absl::flat_hash_map<std::string_view, Range> by_name_;
};

// How many tensors an argument is.
absl::StatusOr<int64_t> ArgLength(const OpDef& op, const AttrSet& attrs, const ArgDef& arg);

}  // namespace tenon
