// A graph without control flow keeps its order. Else the nodes of each loop are drawn together, and
// nodes that run under the same outputs of Switches stand side by side as far as edges allow: the
// plan then skips a branch that was not taken as a whole.

#include "executor/plan/base/schedule.h"

#include <algorithm>
#include <map>
#include <queue>
#include <set>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "graph/base/status_macros.h"
#include "graph/ir/cycles.h"
#include "graph/ir/nodes.h"
#include "graph/op_defs/op_facts.h"

namespace tenon {
namespace {

// A guard stands for the nodes that run only if certain Switches take certain outputs; guard 0
// stands for the nodes that always run. Guards form a tree: a child is one more Switch and its
// output. Items that may come next wait in the queue of their guard.
//
// The tree only decides which items stand side by side. So a guard deeper than kMaxDepth may be
// taken for its parent: its items are then mixed with the parent's.
class GuardTree {
 public:
  static constexpr int kMaxDepth = 64;
  struct Guard {
    int32_t parent = 0;
    int depth = 0;
    int64_t ready = 0;  // items that wait in this guard and in the guards below it
    std::priority_queue<size_t, std::vector<size_t>, std::greater<>> items;  // the smallest first
    std::set<int32_t> ready_children;  // children with waiting items, in themselves or below
  };

  GuardTree() : guards_(1) {}

  // The guard of output `port` of a Switch in guard `parent`, which decides by the value `choice`.
  // Two Switches on one value have the same guards.
  int32_t Child(int32_t parent, Output choice, int32_t port) {
    if (guards_[parent].depth >= kMaxDepth) return parent;
    const auto [it, fresh] = children_.try_emplace({parent, choice.node, choice.port, port},
                                                   static_cast<int32_t>(guards_.size()));
    if (fresh) {
      guards_.emplace_back();
      guards_.back().parent = parent;
      guards_.back().depth = guards_[parent].depth + 1;
    }
    return it->second;
  }
  int32_t Common(int32_t a, int32_t b) const {
    while (a != b) {
      int32_t& deeper = guards_[a].depth >= guards_[b].depth ? a : b;
      deeper = guards_[deeper].parent;
    }
    return a;
  }
  int32_t Deeper(int32_t a, int32_t b) const {
    return guards_[a].depth >= guards_[b].depth ? a : b;
  }

  void Put(int32_t guard, size_t item) {
    guards_[guard].items.push(item);
    for (int32_t g = guard;; g = guards_[g].parent) {
      if (++guards_[g].ready == 1 && g != 0) guards_[guards_[g].parent].ready_children.insert(g);
      if (g == 0) return;
    }
  }
  bool empty() const { return guards_[0].ready == 0; }
  // Takes the next item: one of the last item's guard if there is one, then one of the guards below
  // it, then one of the nearest guard around it. So the items of a branch come out together.
  size_t Take() {
    while (guards_[now_].ready == 0) now_ = guards_[now_].parent;
    while (guards_[now_].items.empty()) now_ = *guards_[now_].ready_children.begin();
    const size_t item = guards_[now_].items.top();
    guards_[now_].items.pop();
    for (int32_t g = now_;; g = guards_[g].parent) {
      if (--guards_[g].ready == 0 && g != 0) guards_[guards_[g].parent].ready_children.erase(g);
      if (g == 0) return item;
    }
  }

 private:
  std::vector<Guard> guards_;
  absl::flat_hash_map<std::tuple<int32_t, NodeId, int32_t, int32_t>, int32_t> children_;
  int32_t now_ = 0;
};

// Schedules a graph with control flow, in three steps: finds the loop and the guard of each node,
// in the given order; sorts the items of each loop topologically (list scheduling, with GuardTree
// as the ready list); writes the sorted lists out, inner loops in the places of their items.
class NodeScheduler {
 public:
  NodeScheduler(const Graph& graph, absl::Span<const NodeId> order,
                const std::vector<bool>& fed_only)
      : graph_(graph), given_(order), fed_only_(fed_only) {}

  absl::StatusOr<Schedule> Run() {
    schedule_.loop_of.assign(graph_.num_node_ids(), -1);
    guard_.assign(graph_.num_node_ids(), 0);
    in_order_.assign(graph_.num_node_ids(), false);
    for (NodeId n : given_) in_order_[n] = true;
    for (NodeId n : given_) {
      TENON_RETURN_IF_ERROR(FindLoop(n));
      FindGuard(n);
      if (graph_.op_name(n) == "Identity" && !fed_only_[n])
        copied_[n] = Original(graph_.data_inputs(n)[0]);
    }
    FindEdges();
    TENON_RETURN_IF_ERROR(SortItems());
    Flatten();
    if (schedule_.loops.empty()) schedule_.loop_of.clear();
    return std::move(schedule_);
  }

 private:
  // Calls each(input) for the edges into n that order it: not for those of a fed node, and not for
  // the edge from a NextIteration back to its Merge.
  template <typename Each>
  void ForEachInput(NodeId n, Each each) const {
    if (fed_only_[n]) return;
    for (const Output& from : graph_.inputs(n)) {
      if (from.node == kNoNode || !in_order_[from.node] || IsLoopEdge(graph_, from.node, n))
        continue;
      each(from);
    }
  }

  int32_t Parent(int32_t loop) const { return schedule_.loops[loop].parent; }
  int Depth(int32_t loop) const { return loop < 0 ? 0 : schedule_.loops[loop].depth; }
  // The loop that the outputs of n belong to.
  int32_t OutputLoop(NodeId n) const {
    const int32_t loop = schedule_.loop_of[n];
    return loop >= 0 && IsExit(graph_.facts(n)) ? Parent(loop) : loop;
  }
  int32_t CommonLoop(int32_t a, int32_t b) const {
    while (a != b) {
      int32_t& deeper = Depth(a) >= Depth(b) ? a : b;
      deeper = Parent(deeper);
    }
    return a;
  }

  // Sets the loop of n: the innermost loop of its inputs. All other inputs must come from loops
  // around that loop, since a value of an unrelated loop exists once in each of its passes.
  absl::Status FindLoop(NodeId n) {
    int32_t loop = -1;
    NodeId source = kNoNode, outlier = kNoNode;
    ForEachInput(n, [&](Output from) {
      const int32_t other = OutputLoop(from.node);
      const int32_t common = CommonLoop(loop, other);
      if (common == loop) {
        loop = other;
        source = from.node;
      } else if (common != other) {
        outlier = from.node;
      }
    });
    if (outlier != kNoNode) {
      return NodeError(graph_, n,
                       absl::InvalidArgumentError(absl::StrCat(
                           "it has inputs from different loops: '", graph_.name(source),
                           "' is in frame '", FrameOf(source), "', '", graph_.name(outlier),
                           "' in frame '", FrameOf(outlier), "'")));
    }
    const OpFacts& op = graph_.facts(n);
    if (fed_only_[n]) return absl::OkStatus();
    if (IsEnter(op)) {
      TENON_ASSIGN_OR_RETURN(loop, Entered(n, loop));
      schedule_.loops[loop].enters.push_back(n);
    } else if ((IsExit(op) || IsNextIteration(op) || op.flow == FlowRole::kLoopCond) && loop < 0) {
      return NodeError(
          graph_, n,
          absl::InvalidArgumentError("it is in no loop: its input comes from no Enter node"));
    }
    schedule_.loop_of[n] = loop;
    return absl::OkStatus();
  }

  // The loop that the Enter node n enters from loop `parent`. In TensorFlow a frame is known by its
  // name and the frame around it.
  absl::StatusOr<int32_t> Entered(NodeId n, int32_t parent) {
    const AttrValue* attr = graph_.attr(n, "frame_name");
    absl::StatusOr<std::string_view> frame =
        attr == nullptr ? absl::InvalidArgumentError("it has no attribute 'frame_name'")
                        : attr->AsString();
    if (!frame.ok()) return NodeError(graph_, n, frame.status());
    const auto [it, fresh] =
        by_frame_.try_emplace({parent, *frame}, static_cast<int32_t>(schedule_.loops.size()));
    if (fresh) {
      if (Depth(parent) >= kMaxLoopDepth)
        return NodeError(graph_, n,
                         absl::UnimplementedError(
                             absl::StrCat("loops are nested more than ", kMaxLoopDepth, " deep")));
      LoopNodes& loop = schedule_.loops.emplace_back();
      loop.parent = parent;
      loop.depth = Depth(parent) + 1;
      loop.frame = *frame;
      loop_guard_.push_back(0);
    }
    return it->second;
  }

  std::string_view FrameOf(NodeId n) const {
    const int32_t loop = OutputLoop(n);
    return loop < 0 ? std::string_view() : schedule_.loops[loop].frame;
  }

  // The value that Identity nodes pass on as `value`. Producers come first in the order, so one
  // look is enough for a chain of them.
  Output Original(Output value) const {
    const auto copied = copied_.find(value.node);
    return copied == copied_.end() ? value : copied->second;
  }

  // The guard of the readers of output `from`.
  int32_t OutputGuard(Output from) {
    const OpFacts& op = graph_.facts(from.node);
    const int32_t loop = schedule_.loop_of[from.node];
    if (IsEnter(op)) return 0;  // guards within a loop count from the loop, which runs as a whole
    if (IsExit(op) && loop >= 0) return loop_guard_[loop];
    if (from.is_control() || fed_only_[from.node] || !IsSwitch(op)) return guard_[from.node];
    return guards_.Child(guard_[from.node], Original(graph_.data_inputs(from.node)[1]), from.port);
  }

  // Sets the guard of n. A node needs all of its inputs alive, so the deepest guard decides; a
  // Merge needs one, so the guard that all inputs have in common does. A loop has the guard of the
  // deepest of its Enter nodes.
  void FindGuard(NodeId n) {
    const bool merge = IsMerge(graph_.facts(n));
    int32_t guard = merge ? -1 : 0;
    ForEachInput(n, [&](Output from) {
      const int32_t other = OutputGuard(from);
      guard = guard < 0 ? other
              : merge   ? guards_.Common(guard, other)
                        : guards_.Deeper(guard, other);
    });
    guard_[n] = std::max(guard, 0);
    if (const int32_t loop = schedule_.loop_of[n]; loop >= 0 && IsEnter(graph_.facts(n)))
      loop_guard_[loop] = guards_.Deeper(loop_guard_[loop], guard_[n]);
  }

  // Items are nodes (their positions in the given order) and loops (numbered behind them). The
  // items of each loop, and those of the graph, are sorted among themselves. A node within an inner
  // loop counts as the item of that loop.
  size_t LoopItem(int32_t loop) const { return given_.size() + static_cast<size_t>(loop); }
  // The item of loop `common` that contains `item` of the loop `loop`.
  size_t Lift(size_t item, int32_t loop, int32_t common) const {
    for (; loop != common; loop = Parent(loop)) item = LoopItem(loop);
    return item;
  }

  // Fills waits_, begin_ and followers_: the edges between items, as compressed rows.
  void FindEdges() {
    std::vector<size_t> position(graph_.num_node_ids(), 0);
    for (size_t i = 0; i < given_.size(); ++i) position[given_[i]] = i;
    const size_t count = given_.size() + schedule_.loops.size();
    std::vector<std::pair<size_t, size_t>> edges;
    waits_.assign(count, 0);
    for (size_t i = 0; i < given_.size(); ++i) {
      const NodeId n = given_[i];
      ForEachInput(n, [&](Output from) {
        const int32_t a = schedule_.loop_of[from.node], b = schedule_.loop_of[n];
        const int32_t common = CommonLoop(a, b);
        const size_t first = Lift(position[from.node], a, common), second = Lift(i, b, common);
        if (first == second) return;  // both are in one inner loop, which sorts them itself
        edges.emplace_back(first, second);
        ++waits_[second];
      });
    }
    begin_.assign(count + 1, 0);
    for (const auto& edge : edges) ++begin_[edge.first + 1];
    for (size_t i = 0; i < count; ++i) begin_[i + 1] += begin_[i];
    followers_.resize(edges.size());
    std::vector<size_t> next(begin_.begin(), begin_.end() - 1);
    for (const auto& edge : edges) followers_[next[edge.first]++] = edge.second;
  }

  int32_t ItemGuard(size_t item) const {
    return item < given_.size() ? guard_[given_[item]] : loop_guard_[item - given_.size()];
  }
  int32_t ItemLoop(size_t item) const {
    return item < given_.size() ? schedule_.loop_of[given_[item]]
                                : Parent(static_cast<int32_t>(item - given_.size()));
  }

  absl::Status SortItems() {
    const size_t count = given_.size() + schedule_.loops.size();
    std::vector<std::vector<size_t>> first(schedule_.loops.size() + 1);  // by loop + 1
    std::vector<size_t> sizes(first.size(), 0);
    for (size_t item = 0; item < count; ++item) {
      const size_t loop = static_cast<size_t>(ItemLoop(item) + 1);
      ++sizes[loop];
      if (waits_[item] == 0) first[loop].push_back(item);
    }
    sorted_.resize(first.size());
    for (size_t loop = 0; loop < first.size(); ++loop) {
      for (size_t item : first[loop]) guards_.Put(ItemGuard(item), item);
      std::vector<size_t>& sorted = sorted_[loop];
      while (!guards_.empty()) {
        const size_t item = guards_.Take();
        sorted.push_back(item);
        for (size_t i = begin_[item]; i < begin_[item + 1]; ++i) {
          const size_t follower = followers_[i];
          if (--waits_[follower] == 0) guards_.Put(ItemGuard(follower), follower);
        }
      }
      // Nodes had an order before loops were drawn together, so what is left over waits for a loop.
      if (sorted.size() != sizes[loop]) {
        for (size_t l = 0; l < schedule_.loops.size(); ++l) {
          if (waits_[LoopItem(static_cast<int32_t>(l))] != 0)
            return NodeError(graph_, schedule_.loops[l].enters[0],
                             absl::UnimplementedError(absl::StrCat(
                                 "loop '", schedule_.loops[l].frame,
                                 "' waits for a value that waits for another result of the loop")));
        }
        return absl::InternalError("nodes wait for each other");
      }
    }
    return absl::OkStatus();
  }

  // Writes the sorted items out. `path` is the stack of loops that are being written; there is no
  // recursion over what a file may nest.
  void Flatten() {
    struct Level {
      int32_t loop;
      size_t next;
    };
    std::vector<Level> path = {{-1, 0}};
    while (!path.empty()) {
      const int32_t loop = path.back().loop;
      const std::vector<size_t>& items = sorted_[static_cast<size_t>(loop + 1)];
      if (path.back().next == items.size()) {
        if (loop >= 0) schedule_.loops[loop].end = schedule_.order.size();
        path.pop_back();
        continue;
      }
      const size_t item = items[path.back().next++];
      if (item < given_.size()) {
        schedule_.order.push_back(given_[item]);
      } else {
        const auto inner = static_cast<int32_t>(item - given_.size());
        schedule_.loops[inner].begin = schedule_.order.size();
        path.push_back({inner, 0});
      }
    }
  }

  const Graph& graph_;
  absl::Span<const NodeId> given_;
  const std::vector<bool>& fed_only_;
  Schedule schedule_;
  std::vector<bool> in_order_;
  std::map<std::pair<int32_t, std::string_view>, int32_t> by_frame_;
  GuardTree guards_;
  absl::flat_hash_map<NodeId, Output> copied_;  // by Identity: the value that it passes on
  std::vector<int32_t> guard_;                  // by node id
  std::vector<int32_t> loop_guard_;             // by loop
  std::vector<uint32_t> waits_;              // by item: the number of edges into it that are open
  std::vector<size_t> begin_, followers_;    // row i of followers_: the items that wait for item i
  std::vector<std::vector<size_t>> sorted_;  // by loop + 1; 0: the graph
};

bool HasControlFlow(const Graph& graph, absl::Span<const NodeId> order) {
  return std::any_of(order.begin(), order.end(),
                     [&](NodeId n) { return IsControlFlow(graph.facts(n)); });
}

}  // namespace

absl::StatusOr<Schedule> MakeSchedule(const Graph& graph, absl::Span<const NodeId> order,
                                      const std::vector<bool>& fed_only) {
  if (HasControlFlow(graph, order)) return NodeScheduler(graph, order, fed_only).Run();
  Schedule schedule;
  schedule.order.assign(order.begin(), order.end());
  return schedule;
}

void NotePlaces(const Graph& graph, Schedule& schedule) {
  schedule.places.assign(graph.num_node_ids(), 0);
  for (size_t i = 0; i < schedule.order.size(); ++i)
    schedule.places[schedule.order[i]] = static_cast<uint32_t>(i);
}

}  // namespace tenon
