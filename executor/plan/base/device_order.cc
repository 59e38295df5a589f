// List scheduling with three queues, each in the order of the file.

#include "executor/plan/base/device_order.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <queue>

#include "executor/plan/base/effects.h"

namespace tenon {
namespace {

class DeviceOrder {
 public:
  DeviceOrder(const Graph& graph, absl::Span<Device* const> devices, const Device* host,
              const std::vector<bool>& fed_only, const std::vector<NodeId>& order)
      : graph_(graph), devices_(devices), host_(host), fed_only_(fed_only), order_(order) {}

  std::vector<NodeId> Run() {
    FindArcs();
    FindKinds();
    std::vector<NodeId> sorted;
    sorted.reserve(order_.size());
    for (int32_t p = 0; p < size(); ++p) {
      if (waits_[p] == 0) ready_[kind_[p]].push(p);
    }
    while (sorted.size() < order_.size()) {
      const int32_t p = Next();
      sorted.push_back(order_[p]);
      if (is_result_[p]) ++ahead_;
      for (const int32_t follower : after_[p]) {
        if (--waits_[follower] == 0) ready_[kind_[follower]].push(follower);
      }
      for (const int32_t result : results_[p]) {
        if (is_result_[result]) --ahead_;
        is_result_[result] = false;
      }
    }
    return sorted;
  }

 private:
  enum Kind : uint8_t { kDevice, kFeedsDevice, kHost };
  int32_t size() const { return static_cast<int32_t>(order_.size()); }
  bool OnDevice(NodeId n) const { return devices_[n] != host_; }

  // All by position in the order so far.
  void FindArcs() {
    std::vector<int32_t> position(graph_.num_node_ids(), -1);
    for (int32_t p = 0; p < size(); ++p) position[order_[p]] = p;
    after_.resize(order_.size());
    results_.resize(order_.size());
    waits_.assign(order_.size(), 0);
    is_result_.assign(order_.size(), false);
    int32_t last_effect = -1;
    for (int32_t p = 0; p < size(); ++p) {
      const NodeId n = order_[p];
      if (fed_only_[n]) continue;
      for (const Output& from : graph_.inputs(n)) {
        if (from.node == kNoNode || position[from.node] < 0) continue;
        const int32_t before = position[from.node];
        Add(before, p);
        if (from.is_control() || OnDevice(n) || !OnDevice(from.node)) continue;
        is_result_[before] = true;
        results_[p].push_back(before);
      }
      if (!HasEffects(graph_, n)) continue;
      if (last_effect >= 0) Add(last_effect, p);
      last_effect = p;
    }
  }
  void Add(int32_t before, int32_t p) {
    after_[before].push_back(p);
    ++waits_[p];
  }

  void FindKinds() {
    kind_.assign(order_.size(), kHost);
    for (int32_t p = size(); p-- > 0;) {
      const bool feeds =
          std::ranges::any_of(after_[p], [&](int32_t f) { return kind_[f] != kHost; });
      kind_[p] = OnDevice(order_[p]) ? kDevice : feeds ? kFeedsDevice : kHost;
    }
  }

  int32_t Next() {
    const bool host_first = ahead_ >= kMostAhead && !ready_[kHost].empty();
    for (const Kind kind : {host_first ? kHost : kDevice, kDevice, kFeedsDevice, kHost}) {
      Queue& queue = ready_[kind];
      if (queue.empty()) continue;
      const int32_t p = queue.top();
      queue.pop();
      return p;
    }
    return -1;  // never: the order has no cycle
  }

  using Queue = std::priority_queue<int32_t, std::vector<int32_t>, std::greater<>>;

  const Graph& graph_;
  const absl::Span<Device* const> devices_;
  const Device* const host_;
  const std::vector<bool>& fed_only_;
  const std::vector<NodeId>& order_;
  std::vector<std::vector<int32_t>> after_;
  std::vector<std::vector<int32_t>> results_;  // of devices that a node on the host reads
  std::vector<int32_t> waits_;
  std::vector<bool> is_result_;  // a node on the host reads it, and none has run so far
  std::vector<Kind> kind_;
  std::array<Queue, 3> ready_;
  int ahead_ = 0;  // results of devices that no node on the host has read
};

}  // namespace

void QueueDevicesFirst(const Graph& graph, absl::Span<Device* const> devices, const Device* host,
                       const std::vector<bool>& fed_only, Schedule& schedule) {
  std::vector<NodeId>& order = schedule.order;
  const auto on_device = [&](NodeId n) { return devices[n] != host; };
  const auto keeps_order = [&](NodeId n) { return KeepsOrder(graph, n); };
  if (!schedule.places.empty() || !std::ranges::any_of(order, on_device) ||
      std::ranges::any_of(order, keeps_order))
    return;
  std::vector<NodeId> sorted = DeviceOrder(graph, devices, host, fed_only, order).Run();
  if (sorted == order) return;
  NotePlaces(graph, schedule);
  order = std::move(sorted);
}

}  // namespace tenon
