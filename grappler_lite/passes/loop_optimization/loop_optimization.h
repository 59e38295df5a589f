// The parts of the pass loop_optimization. All work on control flow of version 1 (Switch, Merge,
// Enter, …). The functions change the graph in place, ask PassContext::Allow for each change, and
// return whether the graph changed. All are exact: errors and effects of a run stay.
#pragma once

#include "absl/status/statusor.h"
#include "grappler_lite/pipeline/pass.h"

namespace tenon {

inline constexpr RewriteInfo kRemoveDeadBranch = {"remove_dead_branch", Exactness::kExact};
inline constexpr RewriteInfo kRemoveDeadLoop = {"remove_dead_loop", Exactness::kExact};
inline constexpr RewriteInfo kHoistInvariant = {"hoist_invariant", Exactness::kExact};
inline constexpr RewriteInfo kRemoveStackPush = {"remove_stack_push", Exactness::kExact};

// Where the predicate of a Switch or RefSwitch is the same constant in every run: makes the Switch
// an Identity and removes the nodes that never run, since they need its other output. Each Merge
// behind it chooses among the inputs that remain. The Switch stays if a node that must stay would
// be removed, or if a Merge cannot choose among fewer inputs, as one whose index is read. Also
// removes a loop that holds no other loop, and whose condition is the constant false, or one op on
// constants that gives false in the first iteration: the first values of the loop's variables
// become their results.
bool RemoveDeadBranches(PassContext& context);

// Moves a node before its loop if two things hold. The node reads loop constants alone: each
// iteration computes the same value. The node cannot fail: it now runs even if the loop has no
// iteration. A node with control inputs stays, as does one that a Merge, NextIteration or Exit
// uses; so do preserved and stateful nodes, Identities, and nodes that have not just one output.
// INVALID_ARGUMENT for a cycle outside of loops; any other error is one of making a node.
// After an error the pipeline restores the graph.
absl::StatusOr<bool> HoistInvariants(PassContext& context);

// Turns pushes into Identities of the element, if the stack is one of StackV2 without a bound, and
// its handle reaches nothing but pushes and closes: no node pops.
bool RemoveStackPushes(PassContext& context);

}  // namespace tenon
