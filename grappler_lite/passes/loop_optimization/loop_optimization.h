// The parts of the pass loop_optimization. All work on control flow of version 1 (Switch, Merge,
// Enter, …). The functions change the graph in place and return whether it changed.
#pragma once

#include "absl/status/statusor.h"
#include "grappler_lite/pipeline/pass.h"

namespace tenon {

inline constexpr RewriteInfo kRemoveDeadBranch = {"remove_dead_branch", Exactness::kExact};
inline constexpr RewriteInfo kRemoveDeadLoop = {"remove_dead_loop", Exactness::kExact};
inline constexpr RewriteInfo kHoistInvariant = {"hoist_invariant", Exactness::kExact};
inline constexpr RewriteInfo kRemoveStackPush = {"remove_stack_push", Exactness::kExact};

// Where the predicate of a Switch is the same in every run: removes the branch that is never taken.
// Each Merge behind it chooses among the inputs that remain. A loop that never runs goes; its first
// values pass it by.
bool RemoveDeadBranches(PassContext& context);

// Moves a node before its loop where the node computes the same value in every iteration and cannot
// fail.
absl::StatusOr<bool> HoistInvariants(PassContext& context);

// Removes pushes onto unbounded stacks from which no node pops.
bool RemoveStackPushes(PassContext& context);

}  // namespace tenon
