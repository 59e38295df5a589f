// Control edges that are implied by longer paths.
#include <algorithm>
#include <vector>

#include "graph/nodes.h"
#include "graph/status_macros.h"
#include "grappler_lite/dependency/dependency_optimization.h"

namespace tenon {
namespace {

// Each control edge belongs to that end of it which has more of them, so that a fan of any size, in
// or out, takes one search.
class TransitiveReduction {
 public:
  explicit TransitiveReduction(PassContext& context)
      : c_(context), g_(context.graph), fanouts_(g_), place_(g_.num_node_ids(), -1) {}

  absl::StatusOr<bool> Run() {
    if (!AnyControlEdge()) return false;
    TENON_ASSIGN_OR_RETURN(order_, TopologicalOrder(g_));
    for (size_t i = 0; i < order_.size(); ++i) place_[order_[i]] = static_cast<int32_t>(i);
    seen_.assign(g_.num_node_ids(), kNoNode);
    control_uses_.resize(g_.num_node_ids());
    for (NodeId n : order_) control_uses_[n] = fanouts_.count({n, kControlPort});
    for (NodeId n : order_) {
      if (!g_.control_inputs(n).empty() && g_.op(n) != nullptr && c_.Visit()) ReduceInto(n);
    }
    for (NodeId n : order_) ReduceFrom(n);
    return Apply();
  }

 private:
  struct Edge {
    NodeId from, to;
  };

  bool AnyControlEdge() const {
    for (NodeId n = 0; n < g_.num_node_ids(); ++n) {
      if (g_.alive(n) && !g_.control_inputs(n).empty()) return true;
    }
    return false;
  }

  // Behind these, that a node has run does not say that all of its inputs have.
  bool EndsPaths(NodeId n) const {
    return IsMergeOp(g_.op_name(n)) || IsEnterOp(g_.op_name(n)) || IsExitOp(g_.op_name(n)) ||
           IsNextIterationOp(g_.op_name(n)) || IsFunctional(g_, n);
  }

  bool BelongsToUser(NodeId from, NodeId to) const {
    return control_uses_[from] <= std::ssize(g_.control_inputs(to));
  }

  // A search takes no more steps than this: a graph of n nodes has at most n searches, and most of
  // them are over at once.
  static size_t MostSteps(size_t edges) { return 256 + 16 * edges; }

  // Control inputs of n from which a longer path leads to n: one search backwards over all of them.
  void ReduceInto(NodeId n) {
    if (EndsPaths(n)) return;
    int32_t earliest = place_[n];
    for (const Output& in : g_.control_inputs(n)) {
      if (BelongsToUser(in.node, n)) earliest = std::min(earliest, place_[in.node]);
    }
    if (earliest == place_[n]) return;
    // Reached over a path of two edges or more.
    std::vector<NodeId> stack;
    const auto expand = [&](NodeId m) {
      if (EndsPaths(m)) return;
      for (const Output& in : g_.inputs(m)) {
        if (place_[in.node] < earliest || seen_[in.node] == n) continue;
        seen_[in.node] = n;
        stack.push_back(in.node);
      }
    };
    size_t steps = MostSteps(g_.inputs(n).size());
    for (const Output& in : g_.inputs(n)) expand(in.node);
    while (!stack.empty() && steps-- > 0) {
      const NodeId m = stack.back();
      stack.pop_back();
      expand(m);
    }
    for (const Output& in : g_.control_inputs(n)) {
      if (seen_[in.node] == n && BelongsToUser(in.node, n)) found_.push_back({in.node, n});
    }
  }

  // The same forwards, from a node that many wait for.
  void ReduceFrom(NodeId n) {
    const auto is_mine = [&](const Fanouts::Use& use) {
      return use.port == kControlPort && !BelongsToUser(n, use.node) && !EndsPaths(use.node);
    };
    int32_t latest = -1;
    for (const Fanouts::Use& use : fanouts_.of(n)) {
      if (is_mine(use)) latest = std::max(latest, place_[use.node]);
    }
    if (latest < 0 || !c_.Visit()) return;
    const NodeId mark = n + g_.num_node_ids();  // another than that of ReduceInto
    std::vector<NodeId> stack;
    const auto expand = [&](NodeId m) {
      if (EndsPaths(m)) return;
      for (const Fanouts::Use& use : fanouts_.of(m)) {
        if (place_[use.node] > latest || seen_[use.node] == mark) continue;
        seen_[use.node] = mark;
        stack.push_back(use.node);
      }
    };
    size_t steps = MostSteps(fanouts_.of(n).size());
    for (const Fanouts::Use& use : fanouts_.of(n)) expand(use.node);
    while (!stack.empty() && steps-- > 0) {
      const NodeId m = stack.back();
      stack.pop_back();
      expand(m);
    }
    for (const Fanouts::Use& use : fanouts_.of(n)) {
      if (seen_[use.node] == mark && is_mine(use)) found_.push_back({n, use.node});
    }
  }

  bool Apply() {
    std::sort(found_.begin(), found_.end(), [this](const Edge& a, const Edge& b) {
      return std::pair(place_[a.to], a.from) < std::pair(place_[b.to], b.from);
    });
    bool changed = false;
    for (auto first = found_.begin(); first != found_.end();) {
      const NodeId n = first->to;
      const auto last =
          std::find_if(first, found_.end(), [n](const Edge& edge) { return edge.to != n; });
      if (c_.Allow(kReduceTransitively.name, n)) {
        changed = true;
        std::vector<Output> controls(g_.control_inputs(n).begin(), g_.control_inputs(n).end());
        std::erase_if(controls, [&](const Output& in) {
          return std::binary_search(first, last, Edge{in.node, n},
                                    [](const Edge& a, const Edge& b) { return a.from < b.from; });
        });
        const std::vector<Output> data(g_.data_inputs(n).begin(), g_.data_inputs(n).end());
        g_.SetInputs(n, data, controls);
      }
      first = last;
    }
    return changed;
  }

  PassContext& c_;
  Graph& g_;
  const Fanouts fanouts_;
  std::vector<NodeId> order_;
  std::vector<int32_t> place_;     // in the order, by node
  std::vector<NodeId> seen_;       // by node: the search that reached it
  std::vector<int> control_uses_;  // by node
  std::vector<Edge> found_;
};

}  // namespace

absl::StatusOr<bool> ReduceControlEdges(PassContext& context) {
  return TransitiveReduction(context).Run();
}

}  // namespace tenon
