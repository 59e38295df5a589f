// The parts of the pass dependency_optimization, which removes control edges and nodes that only
// order other nodes. The three functions change the graph in place and return whether it changed;
// on an error the pipeline restores the graph.
#pragma once

#include "absl/status/statusor.h"
#include "grappler_lite/pipeline/pass.h"

namespace tenon {

inline constexpr RewriteInfo kDropNeedlessControl = {"drop_needless_control", Exactness::kExact};
inline constexpr RewriteInfo kTurnIntoNoOp = {"turn_into_no_op", Exactness::kExact};
inline constexpr RewriteInfo kBypassNoOp = {"bypass_no_op", Exactness::kExact};
inline constexpr RewriteInfo kBypassAwaitedIdentity = {"bypass_identity", Exactness::kExact};
inline constexpr RewriteInfo kBypassIdentityN = {"bypass_identity_n", Exactness::kExact};
inline constexpr RewriteInfo kReduceTransitively = {"reduce_transitively", Exactness::kExact};

// Whether n reads an output of a Switch, call, branch or loop (IsAwaitedByValueOnly). A node that
// waits for n waits for that value; a control edge from the Switch or call would say less.
bool StandsForValue(const Graph& g, NodeId n);

// Turns nodes into NoOps whose values no node reads and which cannot fail; then the producers whose
// values only these nodes read. A NoOp waits for what the node read and waited for.
absl::StatusOr<bool> TurnIntoNoOps(PassContext& context);

// Removes nodes that only pass waiting on, such as NoOp: their users wait for the inputs
// themselves. Neither edges nor edges between devices become more. One sweep, producers first. Also
// drops control edges that say nothing.
absl::StatusOr<bool> BypassWaiting(PassContext& context);

// Removes control edges that a longer path of edges implies (transitive reduction). Work is
// bounded: what is left undone is said in the report (RewriteGate::SayBudgetSpent).
absl::StatusOr<bool> ReduceControlEdges(PassContext& context);

}  // namespace tenon
