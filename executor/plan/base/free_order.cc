// List scheduling: a list of the nodes that may come next, and two ways to choose one of them.

#include "executor/plan/base/free_order.h"

#include <algorithm>
#include <functional>
#include <queue>
#include <random>
#include <utility>

#include "absl/functional/function_ref.h"
#include "executor/plan/base/effects.h"
#include "executor/plan/base/order_arcs.h"

namespace tenon {
namespace {

bool MayMove(const Graph& graph, const Schedule& schedule) {
  return std::ranges::none_of(schedule.order, [&](NodeId n) { return KeepsOrder(graph, n); });
}

void Take(const Graph& graph, std::vector<NodeId> sorted, Schedule& schedule) {
  if (sorted == schedule.order) return;
  NotePlaces(graph, schedule);
  schedule.order = std::move(sorted);
}

// What the values of an order take in memory.
class LiveBytes {
 public:
  LiveBytes(const Graph& graph, const std::vector<bool>& fed_only, absl::Span<const Output> fetches,
            const GraphShapes& shapes, absl::Span<const NodeId> order,
            absl::Span<const int32_t> position)
      : graph_(graph), bytes_(order.size(), 0), inputs_(order.size()) {
    readers_.resize(order.size());
    for (size_t p = 0; p < order.size(); ++p) {
      const NodeId n = order[p];
      if (fed_only[n] || graph.op_name(n) == "Const") continue;
      for (int port = 0; port < graph.num_outputs(n); ++port)
        bytes_[p] += BytesOf({n, port}, shapes);
      for (const Output& from : graph.data_inputs(n)) {
        if (position[from.node] >= 0) inputs_[p].push_back(position[from.node]);
      }
      std::ranges::sort(inputs_[p]);
      inputs_[p].erase(std::ranges::unique(inputs_[p]).begin(), inputs_[p].end());
      for (const int32_t input : inputs_[p]) readers_[input].push_back(static_cast<int32_t>(p));
    }
    is_kept_.assign(order.size(), false);
    for (const Output& fetch : fetches) {
      if (position[fetch.node] >= 0) is_kept_[position[fetch.node]] = true;
    }
    Reset();
  }

  void Reset() {
    now_ = most_ = 0;
    left_.clear();
    for (const std::vector<int32_t>& readers : readers_)
      left_.push_back(static_cast<int32_t>(readers.size()));
  }
  // How many bytes more live once the node at this position has run.
  int64_t Growth(int32_t p) const {
    int64_t growth = IsRead(p) ? bytes_[p] : 0;
    for (const int32_t input : inputs_[p]) {
      if (left_[input] == 1 && !is_kept_[input]) growth -= bytes_[input];
    }
    return growth;
  }
  // Runs the node. Calls changed(q) for each position whose growth is another one now.
  void Run(int32_t p, absl::FunctionRef<void(int32_t)> changed) {
    now_ += bytes_[p];
    most_ = std::max(most_, now_);
    if (!IsRead(p)) now_ -= bytes_[p];
    for (const int32_t input : inputs_[p]) {
      --left_[input];
      if (is_kept_[input]) continue;
      if (left_[input] == 0) now_ -= bytes_[input];
      if (left_[input] == 1) std::ranges::for_each(readers_[input], changed);
    }
  }
  int64_t most() const { return most_; }

 private:
  bool IsRead(int32_t p) const { return is_kept_[p] || !readers_[p].empty(); }
  int64_t BytesOf(Output output, const GraphShapes& shapes) const {
    const auto element = static_cast<int64_t>(DataTypeSize(BaseType(graph_.output_type(output))));
    const PartialShape& shape = shapes.shape(output);
    double bytes = static_cast<double>(element);
    for (int d = 0; shape.known_rank() && d < shape.rank(); ++d)
      bytes *= static_cast<double>(std::max<int64_t>(shape.dim(d), 1));
    return static_cast<int64_t>(std::min(bytes, 1e15));
  }

  const Graph& graph_;
  // By position in the order.
  std::vector<int64_t> bytes_;                // of all outputs
  std::vector<std::vector<int32_t>> inputs_;  // each once
  std::vector<std::vector<int32_t>> readers_;
  std::vector<bool> is_kept_;  // to the end
  std::vector<int32_t> left_;  // readers that have not run
  int64_t now_ = 0, most_ = 0;
};

// Goes on with the node of the least growth, and of several with the first.
std::vector<NodeId> LeastGrowth(absl::Span<const NodeId> order, OrderArcs arcs, LiveBytes& live) {
  using Entry = std::pair<int64_t, int32_t>;  // the growth, the position
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> ready;
  const auto offer = [&](int32_t p) {
    if (arcs.waits[p] == 0) ready.emplace(live.Growth(p), p);
  };
  for (size_t p = 0; p < order.size(); ++p) offer(static_cast<int32_t>(p));
  std::vector<NodeId> sorted;
  sorted.reserve(order.size());
  while (!ready.empty()) {
    const int32_t p = ready.top().second;
    ready.pop();
    if (arcs.waits[p] < 0) continue;  // it was offered twice, and has run
    arcs.waits[p] = -1;
    sorted.push_back(order[p]);
    live.Run(p, offer);
    for (const int32_t follower : arcs.after[p]) {
      --arcs.waits[follower];
      offer(follower);
    }
  }
  return sorted;
}

}  // namespace

std::vector<int32_t> DrawOrder(const std::vector<std::vector<int32_t>>& after,
                               std::vector<int32_t> waits, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<int32_t> ready, drawn;
  for (size_t p = 0; p < waits.size(); ++p) {
    if (waits[p] == 0) ready.push_back(static_cast<int32_t>(p));
  }
  while (!ready.empty()) {
    std::swap(ready[random() % ready.size()], ready.back());
    const int32_t p = ready.back();
    ready.pop_back();
    drawn.push_back(p);
    for (const int32_t follower : after[p]) {
      if (--waits[follower] == 0) ready.push_back(follower);
    }
  }
  return drawn;
}

void ShuffleNodes(const Graph& graph, const std::vector<bool>& fed_only, uint64_t seed,
                  Schedule& schedule) {
  if (!MayMove(graph, schedule)) return;
  OrderArcs arcs(graph, schedule.order, fed_only);
  std::vector<NodeId> sorted;
  for (const int32_t p : DrawOrder(arcs.after, std::move(arcs.waits), seed))
    sorted.push_back(schedule.order[p]);
  Take(graph, std::move(sorted), schedule);
}

void OrderByMemory(const Graph& graph, const std::vector<bool>& fed_only,
                   absl::Span<const Output> fetches, const GraphShapes& shapes,
                   Schedule& schedule) {
  if (!MayMove(graph, schedule)) return;
  const std::vector<NodeId>& order = schedule.order;
  OrderArcs arcs(graph, order, fed_only);
  LiveBytes live(graph, fed_only, fetches, shapes, order, arcs.position);
  for (size_t p = 0; p < order.size(); ++p) live.Run(static_cast<int32_t>(p), [](int32_t) {});
  const int64_t as_is = live.most();
  live.Reset();
  std::vector<NodeId> sorted = LeastGrowth(order, std::move(arcs), live);
  if (live.most() < as_is) Take(graph, std::move(sorted), schedule);
}

}  // namespace tenon
