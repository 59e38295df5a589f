// What must run before what, for those who sort the nodes of a graph without control flow.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "graph/ir/graph.h"

namespace tenon {

// Between the positions of an order, which must have producers before their consumers. The inputs
// of a fed_only node do not matter. Nodes with effects (HasEffects) keep their order among
// themselves.
struct OrderArcs {
  // `fed_only`: as for MakeSchedule.
  OrderArcs(const Graph& graph, absl::Span<const NodeId> order, const std::vector<bool>& fed_only);

  std::vector<int32_t> position;  // by node id; -1: not in the order
  std::vector<std::vector<int32_t>>
      after;                   // by position: those that wait for it, once for each arc
  std::vector<int32_t> waits;  // by position: the number of arcs into it
};

}  // namespace tenon
