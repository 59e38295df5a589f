// Finds the tensors of a node that are one argument or result of its op. An argument may be a list
// of tensors; ports count all tensors of a node.
#pragma once

#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "graph/op_defs/op_def.h"

namespace tenon {

// The ranges of all arguments, or of all results, of an op, by name. The names are views of the op,
// which must outlive the object. Immutable once made.
class ArgRanges {
 public:
  using Range = std::pair<int, int>;  // ports from `first` up to, but without, `second`

  // `args` is op.inputs or op.outputs, and `attrs` are those of a node; the op's defaults stand for
  // the others. Errors are those of ArgLength.
  static absl::StatusOr<ArgRanges> Of(const OpDef& op, const AttrSet& attrs,
                                      const std::vector<ArgDef>& args);
  // Null if `args` has none of this name.
  const Range* Find(std::string_view name) const {
    const auto it = by_name_.find(name);
    return it == by_name_.end() ? nullptr : &it->second;
  }

 private:
  absl::flat_hash_map<std::string_view, Range> by_name_;
};

// Returns the number of tensors of `arg`, from the node's attributes or the op's defaults.
// INVALID_ARGUMENT for an attribute that is missing or of another kind, for a list with a type that
// does not exist, and for a number that is negative or above a million; a list of types has no such
// bound. DATA_LOSS for a malformed list of types.
absl::StatusOr<int64_t> ArgLength(const OpDef& op, const AttrSet& attrs, const ArgDef& arg);

}  // namespace tenon
