// The order of nodes in graphs with asynchronous kernels: calls begin as early as they can.
#pragma once

#include <vector>

#include "absl/types/span.h"
#include "executor/plan/base/schedule.h"
#include "graph/ir/graph.h"

namespace tenon {

// Puts each node behind those that have fewer asynchronous kernels before them, so that calls which
// do not need each other are under way together, whatever stands between them. Otherwise nodes keep
// their order, and so do all that have effects. `calls` are the nodes with such kernels. Graphs
// with control flow or references to variables stay as they are.
void BeginCallsEarly(const Graph& graph, absl::Span<const NodeId> calls,
                     const std::vector<bool>& fed_only, Schedule& schedule);

}  // namespace tenon
