// The order of nodes in graphs with asynchronous kernels: calls begin as early as they can.
#pragma once

#include <vector>

#include "absl/types/span.h"
#include "executor/plan/base/schedule.h"
#include "graph/ir/graph.h"

namespace tenon {

// Sorts schedule.order so that calls which do not need each other are under way together, whatever
// stands between them in the order. The key of a node is the largest number of asynchronous kernels
// before it on a path to it, and 0 for a fed_only node; nodes with equal keys keep their order. So
// producers still run before their consumers.
//
// Nodes with effects (HasEffects in effects.h) keep their order among themselves. For that their
// key is at least the key of the node with effects before them. Unless Schedule::places is set
// already, it gets each node's position before the sort.
//
// `calls`: the nodes with asynchronous kernels. `fed_only`: as for MakeSchedule. Changes nothing if
// there are no calls, or if schedule.order has control flow or a node with a reference as an
// output.
void BeginCallsEarly(const Graph& graph, absl::Span<const NodeId> calls,
                     const std::vector<bool>& fed_only, Schedule& schedule);

}  // namespace tenon
