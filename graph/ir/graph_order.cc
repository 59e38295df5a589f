// Orders and inverse edges of a graph; see graph.h.
#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "graph/ir/cycles.h"
#include "graph/ir/graph.h"
#include "graph/op_defs/op_facts.h"

namespace tenon {
namespace {

absl::Status CycleError(const Graph& graph) {
  const std::vector<std::vector<NodeId>> cycles = FindCycles(graph);
  return absl::InvalidArgumentError(
      absl::StrCat("nodes form a cycle: ", cycles.empty() ? "" : DescribeCycle(graph, cycles[0]),
                   "; only a NextIteration may feed back, into a Merge"));
}

// Returns the live nodes by id if this is a topological order, as in most files: then no search is
// needed.
std::optional<std::vector<NodeId>> OrderOfIds(const Graph& graph) {
  std::vector<NodeId> nodes;
  nodes.reserve(graph.num_nodes());
  for (NodeId n = 0; n < graph.num_node_ids(); ++n) {
    if (!graph.alive(n)) continue;
    for (const Output& from : graph.inputs(n)) {
      if (from.node >= n) return std::nullopt;
    }
    nodes.push_back(n);
  }
  return nodes;
}

absl::StatusOr<std::vector<NodeId>> DepthFirstOrder(const Graph& graph) {
  // An explicit stack: chains of a million nodes must not overflow the thread's.
  enum : uint8_t { kNew, kOpen, kDone };
  const int32_t count = graph.num_node_ids();
  std::vector<uint8_t> state(count, kNew);
  struct Step {
    NodeId node;
    uint32_t next_input;
    bool merges;  // edges into it from a NextIteration do not count
  };
  std::vector<Step> path;
  const auto open = [&](NodeId n) {
    state[n] = kOpen;
    path.push_back({n, 0, IsMerge(graph.facts(n))});
  };
  std::vector<NodeId> order;
  order.reserve(graph.num_nodes());
  const auto is_ready = [&](NodeId n) {
    const std::span<const Output> inputs = graph.inputs(n);
    return std::all_of(inputs.begin(), inputs.end(), [&](const Output& from) {
      return from.node != kNoNode && state[from.node] == kDone;
    });
  };
  for (NodeId root = 0; root < count; ++root) {
    if (!graph.alive(root) || state[root] != kNew) continue;
    if (is_ready(root)) {  // as most are
      state[root] = kDone;
      order.push_back(root);
      continue;
    }
    open(root);
    while (!path.empty()) {
      Step& top = path.back();
      const std::span<const Output> inputs = graph.inputs(top.node);
      NodeId descend = kNoNode;
      while (top.next_input < inputs.size() && descend == kNoNode) {
        const NodeId from = inputs[top.next_input++].node;
        if (from == kNoNode || state[from] == kDone || !graph.alive(from)) continue;
        if (top.merges && IsNextIteration(graph.facts(from))) continue;
        if (state[from] == kOpen) return CycleError(graph);
        descend = from;
      }
      if (descend != kNoNode) {
        open(descend);
      } else {
        state[top.node] = kDone;
        order.push_back(top.node);
        path.pop_back();
      }
    }
  }
  return order;
}

}  // namespace

// Where OrderOfIds applies, DepthFirstOrder would give the same order.
absl::StatusOr<std::vector<NodeId>> TopologicalOrder(const Graph& graph) {
  if (std::optional<std::vector<NodeId>> ids = OrderOfIds(graph)) return *std::move(ids);
  return DepthFirstOrder(graph);
}

Fanouts::Fanouts(const Graph& graph) : begin_(graph.num_node_ids() + 1, 0) {
  const int32_t count = graph.num_node_ids();
  const auto each_use = [&](auto use) {
    for (NodeId n = 0; n < count; ++n) {
      if (!graph.alive(n)) continue;
      const std::span<const Output> inputs = graph.inputs(n);
      for (size_t i = 0; i < inputs.size(); ++i) {
        if (inputs[i].node != kNoNode)
          use(inputs[i], Use{n, static_cast<int32_t>(i), inputs[i].port});
      }
    }
  };
  // Counting sort by producer: first count, then add up, then place.
  each_use([&](Output from, const Use&) { ++begin_[from.node + 1]; });
  for (int32_t n = 0; n < count; ++n) begin_[n + 1] += begin_[n];
  uses_.resize(begin_[count]);
  std::vector<uint32_t> next(begin_.begin(), begin_.end() - 1);
  each_use([&](Output from, const Use& use) { uses_[next[from.node]++] = use; });
}

int Fanouts::count(Output o) const {
  int uses = 0;
  for (const Use& use : of(o.node)) uses += use.port == o.port;
  return uses;
}

}  // namespace tenon
