// The parts of loop_optimization, all on control flow of version 1.
#pragma once

#include "absl/status/statusor.h"
#include "grappler_lite/pipeline/pass.h"

namespace tenon {

inline constexpr RewriteInfo kRemoveDeadBranch = {"remove_dead_branch", Exactness::kExact};
inline constexpr RewriteInfo kRemoveDeadLoop = {"remove_dead_loop", Exactness::kExact};
inline constexpr RewriteInfo kHoistInvariant = {"hoist_invariant", Exactness::kExact};
inline constexpr RewriteInfo kRemoveStackPush = {"remove_stack_push", Exactness::kExact};

// Where the predicate of a Switch is known: the other branch goes, the Merges behind it choose
// among what is left, and a loop that never runs becomes the way past it.
bool RemoveDeadBranches(PassContext& context);

// What computes the same in every iteration, and cannot fail, is computed before the loop.
absl::StatusOr<bool> HoistInvariants(PassContext& context);

// Pushes onto stacks without bounds from which nobody pops.
bool RemoveStackPushes(PassContext& context);

}  // namespace tenon
