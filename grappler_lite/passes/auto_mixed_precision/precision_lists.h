// Which ops may compute in bfloat16, as TensorFlow has it for CPUs.
#pragma once

#include <string>
#include <string_view>

#include "absl/container/flat_hash_set.h"
#include "absl/status/statusor.h"

namespace tenon {

enum class Precision : uint8_t {
  kAllow,  // worth it: always in bfloat16
  kInfer,  // safe unless something before it is denied
  kDeny,   // unsafe, and so may be what follows
  kClear,  // moves or compares values: in the type of its neighbours
  kNone,   // unknown: stays as it is
};

// Each list can be changed through the environment, as TensorFlow's can:
// TF_AUTO_MIXED_PRECISION_GRAPH_REWRITE_ALLOWLIST_ADD=MyOp,Other, …_REMOVE, and the same for
// INFERLIST, DENYLIST, CLEARLIST.
class PrecisionLists {
 public:
  // INVALID_ARGUMENT where the environment puts an op on two lists.
  static absl::StatusOr<PrecisionLists> Make();
  Precision Of(std::string_view op) const;

 private:
  PrecisionLists();

  using List = absl::flat_hash_set<std::string>;
  List allow_, infer_, deny_, clear_;
};

}  // namespace tenon
