// List scheduling with three queues, each in the order of the file.

#include "executor/plan/base/device_order.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <queue>

#include "executor/plan/base/effects.h"
#include "executor/plan/base/order_arcs.h"

namespace tenon {
namespace {

class DeviceOrder {
 public:
  DeviceOrder(const Graph& graph, absl::Span<Device* const> devices, const Device* host,
              const std::vector<bool>& fed_only, const std::vector<NodeId>& order, int most_ahead)
      : graph_(graph),
        devices_(devices),
        host_(host),
        fed_only_(fed_only),
        order_(order),
        most_ahead_(most_ahead),
        arcs_(graph, order, fed_only) {}

  std::vector<NodeId> Run() {
    FindResults();
    FindKinds();
    std::vector<NodeId> sorted;
    sorted.reserve(order_.size());
    for (int32_t p = 0; p < size(); ++p) {
      if (arcs_.waits[p] == 0) ready_[kind_[p]].push(p);
    }
    while (sorted.size() < order_.size()) {
      const int32_t p = Next();
      sorted.push_back(order_[p]);
      if (is_result_[p]) ++ahead_;
      for (const int32_t follower : arcs_.after[p]) {
        if (--arcs_.waits[follower] == 0) ready_[kind_[follower]].push(follower);
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

  // By position in the order so far.
  void FindResults() {
    results_.resize(order_.size());
    is_result_.assign(order_.size(), false);
    for (int32_t p = 0; p < size(); ++p) {
      const NodeId n = order_[p];
      if (fed_only_[n] || OnDevice(n)) continue;
      for (const Output& from : graph_.data_inputs(n)) {
        const int32_t before = arcs_.position[from.node];
        if (before < 0 || !OnDevice(from.node)) continue;
        is_result_[before] = true;
        results_[p].push_back(before);
      }
    }
  }

  void FindKinds() {
    kind_.assign(order_.size(), kHost);
    for (int32_t p = size(); p-- > 0;) {
      const bool feeds =
          std::ranges::any_of(arcs_.after[p], [&](int32_t f) { return kind_[f] != kHost; });
      kind_[p] = OnDevice(order_[p]) ? kDevice : feeds ? kFeedsDevice : kHost;
    }
  }

  int32_t Next() {
    const bool host_first = ahead_ >= most_ahead_ && !ready_[kHost].empty();
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
  const int most_ahead_;
  OrderArcs arcs_;
  std::vector<std::vector<int32_t>> results_;  // of devices that a node on the host reads
  std::vector<bool> is_result_;  // a node on the host reads it, and none has run so far
  std::vector<Kind> kind_;
  std::array<Queue, 3> ready_;
  int ahead_ = 0;  // results of devices that no node on the host has read
};

}  // namespace

void QueueDevicesFirst(const Graph& graph, absl::Span<Device* const> devices, const Device* host,
                       const std::vector<bool>& fed_only, int most_ahead, Schedule& schedule) {
  std::vector<NodeId>& order = schedule.order;
  const auto on_device = [&](NodeId n) { return devices[n] != host; };
  const auto keeps_order = [&](NodeId n) { return KeepsOrder(graph, n); };
  if (!schedule.places.empty() || !std::ranges::any_of(order, on_device) ||
      std::ranges::any_of(order, keeps_order))
    return;
  std::vector<NodeId> sorted = DeviceOrder(graph, devices, host, fed_only, order, most_ahead).Run();
  if (sorted == order) return;
  NotePlaces(graph, schedule);
  order = std::move(sorted);
}

}  // namespace tenon
