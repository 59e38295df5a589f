// Finds for each node the devices that can run it and the device that it asks for, joins nodes into
// groups, places the groups by rules, and then moves some of them towards their neighbours.

#include "executor/place/placer.h"

#include "absl/container/flat_hash_map.h"
#include "executor/place/joins.h"
#include "executor/place/placing.h"
#include "executor/place/reasons.h"
#include "executor/place/requests.h"
#include "executor/place/rules.h"
#include "graph/base/status_macros.h"
#include "graph/ir/nodes.h"

namespace tenon {
namespace {

class Placer {
 public:
  Placer(const Graph& graph, absl::Span<Device* const> devices, const KernelRegistry& kernels,
         const PlacerOptions& options, absl::Span<const NodePlacement> previous)
      : placing_{graph,
                 options,
                 DeviceTypes(devices, kernels),
                 {},
                 Groups(graph.num_node_ids()),
                 std::vector<std::string_view>(graph.num_node_ids()),
                 std::vector<bool>(graph.num_node_ids())},
        previous_(previous) {}

  absl::StatusOr<std::vector<NodePlacement>> Run() {
    Placing& p = placing_;
    TENON_RETURN_IF_ERROR(p.types.Check());
    TENON_RETURN_IF_ERROR(requests_.Read(p.options));
    TENON_ASSIGN_OR_RETURN(p.order, TopologicalOrder(p.graph));
    for (const NodeId n : p.order) TENON_RETURN_IF_ERROR(ReadNode(n));
    TENON_RETURN_IF_ERROR(JoinGroups(p));
    // Neighbour rules compare devices, so they come after every group has one.
    for (const NodeId n : p.order) TENON_RETURN_IF_ERROR(Decide(n));
    for (const NeighbourRule& rule : NeighbourRules()) rule.apply(p);
    std::vector<NodePlacement> result(p.graph.num_node_ids());
    for (const NodeId n : p.order) result[n] = Describe(n);
    return result;
  }

 private:
  // The placement of n before the passes, if it was on the device that n's group has now; else
  // null.
  const NodePlacement* Before(NodeId n) {
    const bool was_here = static_cast<size_t>(n) < previous_.size() &&
                          previous_[n].device == placing_.groups.Of(n).device;
    return was_here ? &previous_[n] : nullptr;
  }

  absl::Status ReadNode(NodeId n) {
    const KindSupport& support = placing_.types.Support(placing_.graph, n);
    if (!support.error.ok()) return NodeError(placing_.graph, n, support.error);
    Group& group = placing_.groups.Of(n);
    group.mask = support.mask != 0 ? support.mask : placing_.types.host_bit();
    group.own = group.mask & ~support.borrowed;
    group.movers_only = support.mover;
    return Keep(n) ? absl::OkStatus() : requests_.Note(placing_, n);
  }

  // Keeps n on the device that its device string names, if n can run there: the first placement or
  // a pass has written it. Returns whether n is kept.
  bool Keep(NodeId n) {
    if (previous_.empty()) return false;
    Group& group = placing_.groups.Of(n);
    Device* const device = placing_.types.ByFullName(placing_.graph.device(n));
    if (device == nullptr || (group.mask & placing_.types.Bit(device)) == 0) return false;
    placing_.kept[n] = true;
    group.device = device;
    group.reason = PlaceCode::kPassMoved;
    const NodePlacement* before = Before(n);
    if (before == nullptr) return true;
    // A pass may have given the node another op, which may be here for another reason. Requests and
    // groups are of the node, so they outlive the op.
    placing_.requested[n] = before->requested;
    const bool same_op = before->op == placing_.graph.op_name(n);
    const PlaceCodeFacts& facts = FactsOf(before->reason);
    if (facts.outlives_op || (facts.of_neighbours && same_op)) {
      group.reason = before->reason;
    } else if (placing_.Best(n, group.mask) == device) {
      group.reason = group.movers_only ? PlaceCode::kGreedy : PlaceCode::kPriority;
    }
    return true;
  }

  absl::Status Decide(NodeId n) {
    if (placing_.groups.Of(n).device != nullptr) return absl::OkStatus();
    for (const GroupRule& rule : GroupRules()) {
      TENON_ASSIGN_OR_RETURN(const bool decided, rule.decide(placing_, n));
      if (decided) break;
    }
    return absl::OkStatus();
  }

  NodePlacement Describe(NodeId n) {
    Placing& p = placing_;
    const Group& group = p.groups.Of(n);
    const NodePlacement* before = p.kept[n] ? Before(n) : nullptr;
    const bool as_before = before != nullptr && before->op == p.graph.op_name(n);
    // Neighbours may have moved: what speaks of them is found anew.
    if (as_before && !FactsOf(before->reason).of_neighbours) return *before;
    NodePlacement placement;
    placement.device = group.device;
    placement.op = p.graph.op_name(n);
    placement.requested = p.Asked(n);
    placement.reason = group.reason;
    // In a group, only the member that asked is pinned; the others follow it.
    const bool follows = group.size > 1 && p.requested[n].empty() && !group.by_default;
    if (follows && placement.reason == PlaceCode::kPinned)
      placement.reason = PlaceCode::kColocation;
    if (p.types.Support(p.graph, n).mask == 0) placement.reason = PlaceCode::kNoKernel;
    placement.rejected = WhyNotOtherDevices(p, n);
    return placement;
  }

  Placing placing_;
  Requests requests_;
  absl::Span<const NodePlacement> previous_;
};

}  // namespace

absl::StatusOr<std::vector<NodePlacement>> Place(const Graph& graph,
                                                 absl::Span<Device* const> devices,
                                                 const KernelRegistry& kernels,
                                                 const PlacerOptions& options,
                                                 absl::Span<const NodePlacement> previous) {
  return Placer(graph, devices, kernels, options, previous).Run();
}

void ApplyPlacement(Graph& graph, absl::Span<const NodePlacement> placement,
                    bool keeps_unavailable) {
  absl::flat_hash_map<const Device*, std::string> names;
  for (NodeId n = 0; n < graph.num_node_ids() && static_cast<size_t>(n) < placement.size(); ++n) {
    const Device* device = placement[n].device;
    if (!graph.alive(n) || device == nullptr) continue;
    if (keeps_unavailable && placement[n].reason == PlaceCode::kUnavailable) continue;
    auto [it, fresh] = names.try_emplace(device);
    if (fresh) it->second = device->full_name();
    if (graph.device(n) != it->second) graph.SetDevice(n, it->second);
  }
}

bool TakeCompilingOut(std::vector<Device*>& devices, PlacerOptions& options) {
  const auto compiles = [](const Device* device) { return device->compiles(); };
  if (std::erase_if(devices, compiles) == 0) return false;
  options.soft_placement = options.fallback = true;
  return true;
}

}  // namespace tenon
