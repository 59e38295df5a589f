// The Merge nodes that are loop variables, and the positions at which loops begin.
#pragma once

#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/statusor.h"
#include "executor/plan/base/plan_input.h"

namespace tenon {

struct LoopVariables {
  // Loops of the schedule, by the position at which they begin and the loop around them (-1: none).
  absl::flat_hash_map<std::pair<size_t, int32_t>, int32_t> opening;
  std::vector<std::vector<NodeId>> merges;    // by loop
  absl::flat_hash_map<NodeId, NodeId> nexts;  // NextIteration by Merge
  absl::flat_hash_set<NodeId> counted;        // Merges with a reader of output 1
};

// UNIMPLEMENTED for loops of other forms.
absl::StatusOr<LoopVariables> FindLoopVariables(const PlanInput& input);

// Whether what goes round from `next` is the variable `merge` itself.
bool IsInvariant(const PlanInput& input, NodeId merge, NodeId next);

// The Enter that gives the variable `merge` of the loop its first value.
absl::StatusOr<NodeId> EnterOf(const PlanInput& input, int32_t loop, NodeId merge, NodeId next);

}  // namespace tenon
