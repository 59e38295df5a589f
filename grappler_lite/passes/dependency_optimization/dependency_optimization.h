// The parts of dependency_optimization: who waits for whom.
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

// Whether n reads a value that cannot be waited for without reading it.
bool StandsForValue(const Graph& g, NodeId n);

// Nodes whose values nobody reads wait instead of computing them, and so on with what only they
// read.
absl::StatusOr<bool> TurnIntoNoOps(PassContext& context);

// One sweep, producers first: nodes that only pass on what they wait for go, their users wait for
// it themselves.
absl::StatusOr<bool> BypassWaiting(PassContext& context);

// Takes away control edges that say nothing which other edges do not say too.
absl::StatusOr<bool> ReduceControlEdges(PassContext& context);

}  // namespace tenon
