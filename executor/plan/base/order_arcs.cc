#include "executor/plan/base/order_arcs.h"

#include "executor/plan/base/effects.h"

namespace tenon {

OrderArcs::OrderArcs(const Graph& graph, absl::Span<const NodeId> order,
                     const std::vector<bool>& fed_only)
    : position(graph.num_node_ids(), -1), after(order.size()), waits(order.size(), 0) {
  const auto add = [this](int32_t before, int32_t p) {
    after[before].push_back(p);
    ++waits[p];
  };
  const auto size = static_cast<int32_t>(order.size());
  for (int32_t p = 0; p < size; ++p) position[order[p]] = p;
  int32_t last_effect = -1;
  for (int32_t p = 0; p < size; ++p) {
    const NodeId n = order[p];
    if (fed_only[n]) continue;
    for (const Output& from : graph.inputs(n)) {
      if (from.node != kNoNode && position[from.node] >= 0) add(position[from.node], p);
    }
    if (!HasEffects(graph, n)) continue;
    if (last_effect >= 0) add(last_effect, p);
    last_effect = p;
  }
}

}  // namespace tenon
