// Moves asynchronous kernels forward: sorts nodes by the largest number of such kernels on a path
// to them. So all calls of one depth begin before any node that waits for one of them.

#include "executor/plan/base/call_order.h"

#include <algorithm>
#include <cstdint>

#include "executor/plan/base/effects.h"

namespace tenon {
namespace {

// By node id: the largest number of asynchronous kernels on a path to the node.
std::vector<int32_t> FindDepths(const Graph& graph, absl::Span<const NodeId> calls,
                                const std::vector<bool>& fed_only, absl::Span<const NodeId> order) {
  std::vector<int32_t> depth(graph.num_node_ids(), 0), own(graph.num_node_ids(), 0);
  for (const NodeId n : calls) own[n] = 1;
  int32_t of_effects = 0;
  for (const NodeId n : order) {
    if (fed_only[n]) continue;
    for (const Output& from : graph.inputs(n)) {
      if (from.node != kNoNode) depth[n] = std::max(depth[n], depth[from.node] + own[from.node]);
    }
    // A node with effects is as deep as any before it, so that a stable sort keeps their order.
    if (HasEffects(graph, n)) of_effects = depth[n] = std::max(depth[n], of_effects);
  }
  return depth;
}

}  // namespace

void BeginCallsEarly(const Graph& graph, absl::Span<const NodeId> calls,
                     const std::vector<bool>& fed_only, Schedule& schedule) {
  std::vector<NodeId>& order = schedule.order;
  if (calls.empty()) return;
  if (std::ranges::any_of(order, [&](NodeId n) { return KeepsOrder(graph, n); })) return;
  if (schedule.places.empty()) NotePlaces(graph, schedule);
  const std::vector<int32_t> depth = FindDepths(graph, calls, fed_only, order);
  std::ranges::stable_sort(order, {}, [&](NodeId n) { return depth[n]; });
}

}  // namespace tenon
