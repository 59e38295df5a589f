// Which floats of a graph become bfloat16 or half, and why the others do not.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "grappler_lite/passes/auto_mixed_precision/precision_lists.h"
#include "grappler_lite/passes/auto_mixed_precision/type_slots.h"
#include "grappler_lite/pipeline/pass.h"

namespace tenon {

// The slots that become the narrow type, in groups: a group changes as a whole or not at all, since
// loops and tensor lists must agree on one type.
struct NarrowChoice {
  std::vector<bool> chosen;    // by slot of `floats`: whether the slot becomes narrow
  std::vector<NodeId> leader;  // by node id: the least node id in the group of the node
  // By node id: why a float of the node stays, "Exp is on the deny list". Empty for a node that
  // becomes narrow, for one without floats, and for a Const.
  std::vector<std::string> stays;
};

// "bfloat16" or "half", for messages.
std::string_view NarrowName(DataType narrow);

// Chooses among the slots of `floats`, the floats of the context's graph, those that become
// `narrow`, which is bfloat16 or half; changes nothing. Slots of preserved nodes stay. For half so
// do nodes that read a constant beyond half's range. FAILED_PRECONDITION if nodes that are not
// preserved have slots and an op of class kAllow, but none of them can change, and one only because
// its device lacks the kernel of the narrow type or the casts. INVALID_ARGUMENT for a cycle outside
// of loops.
absl::StatusOr<NarrowChoice> ChooseNarrow(const PassContext& context, const PrecisionLists& lists,
                                          const TypeSlots& floats, DataType narrow);

}  // namespace tenon
