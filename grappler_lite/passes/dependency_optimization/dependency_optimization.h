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

// Turns a node into a NoOp if another node waits for it over a control edge, no node reads its
// outputs, and it cannot fail. The NoOp waits for each node that the old one read or waited for. So
// a producer that loses its last reader may turn next. Preserved nodes stay; so do nodes without
// inputs, nodes that read a reference, those of StandsForValue, and those on a device without a
// NoOp. A node that nothing reads or waits for stays too.
absl::StatusOr<bool> TurnIntoNoOps(PassContext& context);

// Removes each NoOp, Identity (here any op of OpFacts::identity) and IdentityN that is not
// preserved, if its removal makes neither the number of edges nor the number of edges between
// devices greater. Its users read and wait for its inputs instead. An Identity or IdentityN stays
// if a producer is on another device, if it reads a reference, or if a user would wait for less.
// Nodes of several inputs and very many uses stay. Also drops each control edge from a constant
// without inputs, from a fed node, or from a node that the user reads anyway (unless the user is a
// Merge, call, branch or loop), and repeated ones. One sweep, producers first.
absl::StatusOr<bool> BypassWaiting(PassContext& context);

// Removes control edges that a longer path of edges implies (transitive reduction). Work is
// bounded: what is left undone is said in the report (RewriteGate::SayBudgetSpent).
absl::StatusOr<bool> ReduceControlEdges(PassContext& context);

}  // namespace tenon
