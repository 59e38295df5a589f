// The Merge nodes that are loop variables, and the positions at which loops begin. "NextIteration"
// is the node that hands a value to the next pass.
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
  // An outer and an inner loop may begin at one position.
  absl::flat_hash_map<std::pair<size_t, int32_t>, int32_t> opening;
  std::vector<std::vector<NodeId>> merges;    // by loop: its variables, in the schedule's order
  absl::flat_hash_map<NodeId, NodeId> nexts;  // by variable: its NextIteration
  absl::flat_hash_set<NodeId> counted;  // Merges, of loops or not, of which output 1 is read or
                                        // fetched; empty if the schedule has no loop
};

// A Merge with a NextIteration as an input is a variable. It is none if only its fed outputs are
// needed (PlanInput::fed_only), or if it is outside of all loops and its NextIteration is fed.
// UNIMPLEMENTED for any other variable outside of all loops, and for one that has not exactly two
// inputs, one of them from a NextIteration; names the node.
absl::StatusOr<LoopVariables> FindLoopVariables(const PlanInput& input);

// `next` here and below: the NextIteration of the variable `merge`. Whether the value that `next`
// hands on is output 0 of `merge` itself, passed through Identity nodes and true sides of Switch
// nodes only: the variable is then the same in all passes. Looks at no more than 1,000 nodes; for a
// longer path it returns false, which costs a copy.
bool IsInvariant(const PlanInput& input, NodeId merge, NodeId next);

// The Enter that gives the variable `merge` of the loop its first value, directly or through
// Identity nodes. UNIMPLEMENTED, without the name of `merge`, if another node gives the value, an
// Enter of another loop or a fed node.
absl::StatusOr<NodeId> EnterOf(const PlanInput& input, int32_t loop, NodeId merge, NodeId next);

}  // namespace tenon
