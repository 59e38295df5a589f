// Which floats of a graph become bfloat16.
#pragma once

#include <vector>

#include "absl/status/statusor.h"
#include "grappler_lite/passes/auto_mixed_precision/precision_lists.h"
#include "grappler_lite/passes/auto_mixed_precision/type_slots.h"
#include "grappler_lite/pipeline/pass.h"

namespace tenon {

// What is to be decided on together: all of it becomes bfloat16, or nothing.
struct Painting {
  std::vector<bool> chosen;    // by slot
  std::vector<NodeId> leader;  // by node: the first of those that change together
};

// FAILED_PRECONDITION if no device can compute any of the ops that are worth it.
absl::StatusOr<Painting> PaintBfloat16(const PassContext& context, const PrecisionLists& lists,
                                       const TypeSlots& floats);

}  // namespace tenon
