// PlacerOptions::spread: independent branches go to different devices of a type. Chains of nodes
// are drawn together, since a chain gains nothing from two devices. Then list scheduling: the chain
// with the longest path behind it is first, and goes to the device that would end it first, by a
// unit of time for each node and two for each copy.

#include "executor/place/spread.h"

#include <algorithm>
#include <vector>

#include "absl/container/flat_hash_map.h"

namespace tenon {
namespace {

constexpr int kCopyUnits = 2;

class Spreader {
 public:
  explicit Spreader(Placing& p)
      : p_(p), item_of_(p.graph.num_node_ids(), -1), readers_(p.graph.num_node_ids(), 0) {
    for (Device* const device : p.types.devices()) of_type_[p.types.Bit(device)].push_back(device);
    for (auto& [type, devices] : of_type_) {
      const auto from = static_cast<ptrdiff_t>(p.options.spread_from % devices.size());
      std::ranges::rotate(devices, devices.begin() + from);
    }
  }

  void Run() {
    for (const NodeId n : p_.order) {
      ForEachProducer(n, [&](NodeId from) { ++readers_[from]; });
    }
    for (const NodeId n : p_.order) AddNode(n);
    FindPaths();
    std::vector<int32_t> order(items_.size());
    for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int32_t>(i);
    std::ranges::stable_sort(order, std::ranges::greater(),
                             [&](int32_t i) { return items_[i].path; });
    for (const int32_t i : order) Decide(items_[i]);
  }

 private:
  // A chain of nodes that may move, or one other node.
  struct Item {
    std::vector<NodeId> nodes;
    std::vector<int32_t> inputs;                    // items, which stand before this one
    const std::vector<Device*>* choices = nullptr;  // null: it stays where it is
    int cost = 0;                                   // units of time
    int path = 0;                                   // of it and all behind it
    Device* device = nullptr;
    int end = 0;  // when it is done
  };

  // Calls each(node) once for each node that n reads or waits for, but for nodes without inputs:
  // their values cost no copy that counts, as constants are copied once.
  template <typename Each>
  void ForEachProducer(NodeId n, Each each) {
    producers_.clear();
    for (const Output& from : p_.graph.inputs(n)) {
      if (from.node != kNoNode && p_.graph.num_inputs(from.node) > 0)
        producers_.push_back(from.node);
    }
    std::ranges::sort(producers_);
    producers_.erase(std::ranges::unique(producers_).begin(), producers_.end());
    for (const NodeId from : producers_) each(from);
  }

  // The devices among which n may choose; null if it has no choice. Nodes with state stay together
  // with it, and groups are together for reasons of their own.
  const std::vector<Device*>* ChoicesOf(NodeId n) {
    const Group& group = p_.groups.Of(n);
    if (p_.kept[n] || group.size > 1 || group.device == nullptr || group.device->is_host() ||
        (group.request != nullptr && group.request->ordinal >= 0))
      return nullptr;
    const NodeKind& kind = p_.graph.kind(n);
    if (kind.op == nullptr || kind.op->is_stateful ||
        std::ranges::find(kind.types.inputs, DataType::kResource) != kind.types.inputs.end())
      return nullptr;
    const std::vector<Device*>& all = of_type_[p_.types.Bit(group.device)];
    return all.size() > 1 ? &all : nullptr;
  }

  void AddNode(NodeId n) {
    const std::vector<Device*>* const choices = ChoicesOf(n);
    std::vector<int32_t> inputs;
    NodeId only = kNoNode;
    ForEachProducer(n, [&](NodeId from) {
      if (item_of_[from] < 0) return;  // it stands behind n, and closes a loop
      inputs.push_back(item_of_[from]);
      only = from;
    });
    const bool follows = inputs.size() == 1 && readers_[only] == 1 && choices != nullptr &&
                         items_[inputs[0]].choices == choices;
    if (!follows) {
      items_.emplace_back();
      items_.back().inputs = std::move(inputs);
      items_.back().choices = choices;
      items_.back().device = p_.groups.Of(n).device;
    }
    const int32_t i = follows ? item_of_[only] : static_cast<int32_t>(items_.size()) - 1;
    item_of_[n] = i;
    items_[i].nodes.push_back(n);
    if (choices != nullptr) ++items_[i].cost;
  }

  void FindPaths() {
    for (size_t i = items_.size(); i-- > 0;) {
      Item& item = items_[i];
      item.path += item.cost;  // it held the longest path of those behind it
      for (const int32_t input : item.inputs)
        items_[input].path = std::max(items_[input].path, item.path);
    }
  }

  int ReadyOn(const Item& item, const Device* device) const {
    int ready = 0;
    for (const int32_t input : item.inputs) {
      const Item& from = items_[input];
      ready = std::max(ready, from.end + (from.device == device ? 0 : kCopyUnits));
    }
    return ready;
  }

  void Decide(Item& item) {
    if (item.choices == nullptr) {
      item.end = ReadyOn(item, item.device);
      return;
    }
    const auto end_on = [&](Device* device) {
      return std::max(ReadyOn(item, device), free_[device]) + item.cost;
    };
    Device* const best = *std::ranges::min_element(*item.choices, {}, end_on);
    item.end = free_[best] = end_on(best);
    if (best == item.device) return;
    item.device = best;
    for (const NodeId n : item.nodes) {
      p_.groups.Of(n).device = best;
      p_.groups.Of(n).reason = PlaceCode::kSpread;
    }
  }

  Placing& p_;
  absl::flat_hash_map<uint64_t, std::vector<Device*>>
      of_type_;                                   // the preferred one first; never grows
  absl::flat_hash_map<const Device*, int> free_;  // when it has done its items
  std::vector<Item> items_;                       // producers first
  std::vector<int32_t> item_of_;                  // by node id
  std::vector<int32_t> readers_;                  // by node id
  std::vector<NodeId> producers_;
};

}  // namespace

void SpreadBranches(Placing& p) {
  if (p.options.spread) Spreader(p).Run();
}

}  // namespace tenon
