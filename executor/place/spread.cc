// PlacerOptions::spread: independent branches go to different devices of a type, by a unit of time
// for each node and two for each copy.

#include "executor/place/spread.h"

#include <algorithm>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "executor/place/chains.h"

namespace tenon {
namespace {

constexpr int kNodeUnits = 1, kCopyUnits = 2;

// Lanes are the devices of the session, by index.
class Spreader {
 public:
  explicit Spreader(Placing& p) : p_(p) {
    for (Device* const device : p.types.devices()) {
      lane_of_[device] = static_cast<int32_t>(devices_.size());
      of_type_[p.types.Bit(device)].push_back(static_cast<int32_t>(devices_.size()));
      devices_.push_back(device);
    }
    for (auto& [type, devices] : of_type_) {
      const auto from = static_cast<ptrdiff_t>(p.options.spread_from % devices.size());
      std::ranges::rotate(devices, devices.begin() + from);
    }
  }

  void Run() {
    std::vector<ChainNode> nodes;
    std::vector<int32_t> index_of(p_.graph.num_node_ids(), -1);
    for (const NodeId n : p_.order) {
      ChainNode& node = nodes.emplace_back();
      node.after = ProducersOf(p_.graph, n, index_of);
      index_of[n] = static_cast<int32_t>(nodes.size()) - 1;
      node.lanes = ChoicesOf(n);
      if (Device* const device = p_.groups.Of(n).device; device != nullptr)
        node.lane = lane_of_[device];
    }
    const std::vector<int32_t> lanes = LanesOfChains(nodes, kNodeUnits, kCopyUnits);
    for (size_t i = 0; i < lanes.size(); ++i) {
      Group& group = p_.groups.Of(p_.order[i]);
      if (nodes[i].lanes == nullptr || group.device == devices_[lanes[i]]) continue;
      group.device = devices_[lanes[i]];
      group.reason = PlaceCode::kSpread;
    }
  }

 private:
  // The devices among which n may choose; null if it has no choice. Nodes with state stay together
  // with it, and groups are together for reasons of their own.
  const std::vector<int32_t>* ChoicesOf(NodeId n) {
    const Group& group = p_.groups.Of(n);
    if (p_.kept[n] || group.size > 1 || group.device == nullptr || group.device->is_host() ||
        (group.request != nullptr && group.request->ordinal >= 0))
      return nullptr;
    const NodeKind& kind = p_.graph.kind(n);
    if (kind.op == nullptr || kind.op->is_stateful ||
        std::ranges::find(kind.types.inputs, DataType::kResource) != kind.types.inputs.end())
      return nullptr;
    const std::vector<int32_t>& all = of_type_[p_.types.Bit(group.device)];
    return all.size() > 1 ? &all : nullptr;
  }

  Placing& p_;
  std::vector<Device*> devices_;  // by lane
  absl::flat_hash_map<const Device*, int32_t> lane_of_;
  // The preferred one first; never grows.
  absl::flat_hash_map<uint64_t, std::vector<int32_t>> of_type_;
};

}  // namespace

void SpreadBranches(Placing& p) {
  if (p.options.spread) Spreader(p).Run();
}

}  // namespace tenon
