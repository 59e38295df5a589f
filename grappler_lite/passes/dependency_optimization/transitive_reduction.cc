// Control edges that are implied by longer paths.
#include <algorithm>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "graph/base/status_macros.h"
#include "graph/ir/nodes.h"
#include "graph/op_defs/op_facts.h"
#include "grappler_lite/passes/dependency_optimization/dependency_optimization.h"
#include "grappler_lite/passes/dependency_optimization/path_labels.h"

namespace tenon {
namespace {

// Labels answer for almost all edges. Those that they leave open are searched for, where each
// belongs to that end of it which has more of them, so that a fan of any size, in or out, takes one
// search.
class TransitiveReduction {
 public:
  explicit TransitiveReduction(PassContext& context)
      : c_(context), g_(context.graph), fanouts_(g_), place_(g_.num_node_ids(), -1) {}

  absl::StatusOr<bool> Run() {
    // What a round before left undone is this one's to do.
    c_.gate.SayBudgetSpent("");
    if (!AnyControlEdge()) return false;
    TENON_ASSIGN_OR_RETURN(order_, TopologicalOrder(g_));
    for (size_t i = 0; i < order_.size(); ++i) place_[order_[i]] = static_cast<int32_t>(i);
    CollectAsked();
    AskLabels(/*forward=*/true);
    AskLabels(/*forward=*/false);
    SearchOpen();
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
    return IsMerge(g_.facts(n)) || IsEnter(g_.facts(n)) || IsExit(g_.facts(n)) ||
           IsNextIteration(g_.facts(n)) || IsFunctional(g_, n);
  }

  // Control edges that may be implied by a path over another input of their user, by user.
  void CollectAsked() {
    for (const NodeId n : order_) {
      if (g_.op(n) == nullptr || g_.control_inputs(n).empty() || g_.inputs(n).size() < 2) continue;
      if (EndsPaths(n) || !c_.Visit()) continue;
      for (const Output& in : g_.control_inputs(n)) open_.push_back({in.node, n});
    }
  }

  // One sweep over the graph, or over its mirror image: where many nodes lie before each, few may
  // lie behind.
  void AskLabels(bool forward) {
    if (open_.empty()) return;
    const int32_t size = static_cast<int32_t>(order_.size());
    const auto rank = [&](NodeId n) { return forward ? place_[n] : size - 1 - place_[n]; };
    const auto head = [&](const Edge& edge) { return rank(forward ? edge.to : edge.from); };
    const auto tail = [&](const Edge& edge) { return rank(forward ? edge.from : edge.to); };
    std::vector<int32_t> reads;
    const auto find_reads = [&](int32_t at) {
      const NodeId n = order_[forward ? at : size - 1 - at];
      reads.clear();
      if (!forward) {
        for (const Fanouts::Use& use : fanouts_.of(n)) {
          if (!EndsPaths(use.node)) reads.push_back(rank(use.node));
        }
      } else if (!EndsPaths(n)) {
        for (const Output& in : g_.inputs(n)) reads.push_back(rank(in.node));
      }
    };
    std::vector<int32_t> last_asked(size, -1), last_read(size, -1);
    for (int32_t at = 0; at < size; ++at) {
      find_reads(at);
      for (const int32_t in : reads) last_read[in] = at;
    }
    std::vector<Edge> asked = std::exchange(open_, {});
    if (!forward)
      std::stable_sort(asked.begin(), asked.end(),
                       [&](const Edge& a, const Edge& b) { return head(a) < head(b); });
    for (const Edge& edge : asked) last_asked[tail(edge)] = head(edge);
    PathLabels labels(std::move(last_asked), std::move(last_read));
    std::vector<PathLabels::Answer> answers;
    auto edge = asked.begin();
    for (int32_t at = 0; edge != asked.end(); ++at) {
      find_reads(at);
      std::sort(reads.begin(), reads.end(), std::greater<>());
      reads.erase(std::unique(reads.begin(), reads.end()), reads.end());
      labels.Add(reads, answers);
      for (; edge != asked.end() && head(*edge) == at; ++edge) {
        const auto it = std::lower_bound(reads.begin(), reads.end(), tail(*edge), std::greater<>());
        const PathLabels::Answer answer = answers[it - reads.begin()];
        if (answer == PathLabels::Answer::kPath) found_.push_back(*edge);
        if (answer == PathLabels::Answer::kUnknown) open_.push_back(*edge);
      }
    }
  }

  void SearchOpen() {
    if (open_.empty()) return;
    seen_.assign(g_.num_node_ids(), kNoNode);
    looks_left_ = MostLooks(g_);
    std::stable_sort(open_.begin(), open_.end(),
                     [this](const Edge& a, const Edge& b) { return place_[a.to] < place_[b.to]; });
    // By the end that the edge belongs to.
    std::vector<int> control_uses(g_.num_node_ids());
    for (const NodeId n : order_) control_uses[n] = fanouts_.count({n, kControlPort});
    const auto of_user = [&](const Edge& edge) {
      return control_uses[edge.from] <= std::ssize(g_.control_inputs(edge.to));
    };
    const auto users = std::stable_partition(open_.begin(), open_.end(), of_user);
    std::stable_sort(users, open_.end(), [this](const Edge& a, const Edge& b) {
      return place_[a.from] < place_[b.from];
    });
    for (auto first = open_.begin(); first != open_.end();) {
      const bool into = first < users;
      const auto last = std::find_if(first, into ? users : open_.end(), [&](const Edge& edge) {
        return into ? edge.to != first->to : edge.from != first->from;
      });
      Search({first, last}, into);
      first = last;
    }
  }

  // A search takes no more steps than this: a graph of n nodes has at most n searches, and most of
  // them are over at once.
  static size_t MostSteps(size_t edges) { return 256 + 16 * edges; }
  // What all searches of a sweep may look at.
  static int64_t MostLooks(const Graph& g) { return 100'000 + int64_t{64} * g.num_node_ids(); }

  // Looks for longer paths along these edges: all into one node, searched backwards, or all out of
  // one.
  void Search(std::span<const Edge> edges, bool into) {
    const NodeId start = into ? edges[0].to : edges[0].from;
    // A node may be searched from in both directions: the marks in seen_ differ.
    const NodeId mark = into ? start : start + g_.num_node_ids();
    int32_t farthest = place_[start];
    for (const Edge& edge : edges) {
      farthest = into ? std::min(farthest, place_[edge.from]) : std::max(farthest, place_[edge.to]);
    }
    // Reached over a path of two edges or more.
    std::vector<NodeId> stack;
    const auto reach = [&](NodeId m) {
      --looks_left_;
      if (seen_[m] == mark || (into ? place_[m] < farthest : place_[m] > farthest)) return;
      seen_[m] = mark;
      stack.push_back(m);
    };
    const auto expand = [&](NodeId m) {
      if (into && !EndsPaths(m)) {
        for (const Output& in : g_.inputs(m)) reach(in.node);
      }
      if (into) return;
      for (const Fanouts::Use& use : fanouts_.of(m)) {
        if (!EndsPaths(use.node)) reach(use.node);
      }
    };
    if (into) {
      for (const Output& in : g_.inputs(start)) {
        if (looks_left_ > 0) expand(in.node);
      }
    } else {
      for (const Fanouts::Use& use : fanouts_.of(start)) {
        if (looks_left_ > 0 && !EndsPaths(use.node)) expand(use.node);
      }
    }
    const size_t most = MostSteps(into ? g_.inputs(start).size() : fanouts_.of(start).size());
    for (size_t step = 0; !stack.empty() && step < most && looks_left_ > 0; ++step) {
      const NodeId m = stack.back();
      stack.pop_back();
      expand(m);
    }
    bool all = true;
    for (const Edge& edge : edges) {
      const bool is_implied = seen_[into ? edge.from : edge.to] == mark;
      if (is_implied) found_.push_back(edge);
      all &= is_implied;
    }
    if (all || (stack.empty() && looks_left_ > 0)) return;
    c_.gate.SayBudgetSpent(looks_left_ <= 0
                               ? absl::StrCat(MostLooks(g_), " edges of searches for longer paths")
                               : absl::StrCat(most, " nodes of a search for longer paths"));
  }

  bool Apply() {
    const auto by_user = [this](const Edge& a, const Edge& b) {
      return place_[a.to] < place_[b.to];
    };
    // The first sweep finds most, and in this order.
    if (!std::is_sorted(found_.begin(), found_.end(), by_user))
      std::stable_sort(found_.begin(), found_.end(), by_user);
    std::vector<NodeId> implied_for(g_.num_node_ids(), kNoNode);
    bool changed = false;
    for (auto first = found_.begin(); first != found_.end();) {
      const NodeId n = first->to;
      auto last = first;
      for (; last != found_.end() && last->to == n; ++last) implied_for[last->from] = n;
      if (c_.Allow(kReduceTransitively.name, n)) {
        changed = true;
        std::vector<Output> controls(g_.control_inputs(n).begin(), g_.control_inputs(n).end());
        std::erase_if(controls, [&](const Output& in) { return implied_for[in.node] == n; });
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
  std::vector<int32_t> place_;  // in the order, by node
  std::vector<Edge> open_;
  std::vector<NodeId> seen_;  // by node: the search that reached it
  int64_t looks_left_ = 0;
  std::vector<Edge> found_;
};

}  // namespace

absl::StatusOr<bool> ReduceControlEdges(PassContext& context) {
  return TransitiveReduction(context).Run();
}

}  // namespace tenon
