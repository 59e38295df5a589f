// Which ops may compute in bfloat16: what their facts say, and how the environment changes that.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "absl/container/flat_hash_set.h"
#include "absl/status/statusor.h"
#include "graph/op_defs/op_facts.h"

namespace tenon {

// Each class of ops is a list that can be changed through the environment, as TensorFlow's can:
// TF_AUTO_MIXED_PRECISION_GRAPH_REWRITE_ALLOWLIST_ADD=MyOp,Other, …_REMOVE, and the same for
// INFERLIST, DENYLIST, CLEARLIST.
class PrecisionLists {
 public:
  // Reads the environment. INVALID_ARGUMENT where it adds an op to a list while the op is on
  // another.
  static absl::StatusOr<PrecisionLists> Make();
  // The class of the op of this name, which has these facts; kNone if the op is on no list. The
  // facts put it on a list, as far as the environment does not change that. An op that the
  // environment adds to a list and removes from the same list is not on it.
  Precision Of(std::string_view op, const OpFacts& facts) const;

 private:
  PrecisionLists();

  using List = absl::flat_hash_set<std::string>;
  struct Change {
    Precision list;
    List added, removed;
  };
  static bool IsOn(const Change& change, std::string_view op, const OpFacts& facts);

  std::array<Change, 4> changes_;  // the first list that has an op counts
  bool unchanged_ = true;
};

}  // namespace tenon
