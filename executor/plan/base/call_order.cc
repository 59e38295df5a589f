// Moves asynchronous kernels forward: sorts nodes by the largest number of such kernels on a path
// to them. So all calls of one depth begin before any node that waits for one of them.

#include "executor/plan/base/call_order.h"

#include <algorithm>
#include <cstdint>

#include "executor/plan/base/effects.h"
#include "graph/op_defs/op_facts.h"

namespace tenon {
namespace {

// Whether the order must stay as it is. The nodes of a loop or a branch must stand together. A
// reader of a reference sees the value at its own place in the order.
bool KeepsOrder(const Graph& graph, NodeId n) {
  return IsControlFlow(graph.facts(n)) || GivesReference(graph, n);
}

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
  schedule.places.assign(graph.num_node_ids(), 0);
  for (size_t i = 0; i < order.size(); ++i) schedule.places[order[i]] = static_cast<uint32_t>(i);
  const std::vector<int32_t> depth = FindDepths(graph, calls, fed_only, order);
  std::ranges::stable_sort(order, {}, [&](NodeId n) { return depth[n]; });
}

}  // namespace tenon
