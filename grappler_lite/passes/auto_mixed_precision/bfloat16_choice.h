// Which floats of a graph become bfloat16.
#pragma once

#include <vector>

#include "absl/status/statusor.h"
#include "grappler_lite/passes/auto_mixed_precision/precision_lists.h"
#include "grappler_lite/passes/auto_mixed_precision/type_slots.h"
#include "grappler_lite/pipeline/pass.h"

namespace tenon {

// The slots that become bfloat16, in groups: a group changes as a whole or not at all, since loops
// and tensor lists must agree on one type.
struct Bfloat16Choice {
  std::vector<bool> chosen;    // by slot of `floats`: whether the slot becomes bfloat16
  std::vector<NodeId> leader;  // by node id: the least node id in the group of the node
};

// Chooses among the slots of `floats`, the floats of the context's graph; changes nothing. Slots of
// preserved nodes stay. FAILED_PRECONDITION if nodes that are not preserved have slots and an op of
// class kAllow, but for none of them has its device the bfloat16 kernel and the casts.
// INVALID_ARGUMENT for a cycle outside of loops.
absl::StatusOr<Bfloat16Choice> ChooseBfloat16(const PassContext& context,
                                              const PrecisionLists& lists, const TypeSlots& floats);

}  // namespace tenon
