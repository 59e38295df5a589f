#include "executor/place/rules.h"
#include "graph/op_defs/op_facts.h"

namespace tenon {
namespace {

// Moves a lone, free node to a neighbour's device if that is allowed. A kept one stays, but may be
// there already.
void StayNear(Placing& p, NodeId n, Device* device) {
  Group& group = p.groups.Of(n);
  if (p.kept[n]) group.near = group.device == device;
  if (device == nullptr || group.size > 1 || group.request != nullptr || p.kept[n]) return;
  if ((group.mask & p.types.Bit(device)) == 0) return;
  if (group.device != device) group.reason = PlaceCode::kGreedy;
  group.device = device;
  group.near = true;
}

void FollowProducers(Placing& p) {
  for (const NodeId n : p.order) {
    const Group& group = p.groups.Of(n);
    const bool follows = p.graph.facts(n).metadata || (group.movers_only && group.size == 1);
    if (follows && p.graph.num_inputs(n) > 0)
      StayNear(p, n, p.groups.Of(p.graph.inputs(n)[0].node).device);
  }
}

// The one device on which all readers of something are, by whatever Reader says it is of.
class Readers {
 public:
  explicit Readers(size_t count) : device_(count, nullptr), several_(count, false) {}
  void Note(NodeId of, Device* device) {
    if (device_[of] != nullptr && device_[of] != device) several_[of] = true;
    device_[of] = device;
  }
  // Null if there are none, or several.
  Device* The(NodeId of) const { return several_[of] ? nullptr : device_[of]; }

 private:
  std::vector<Device*> device_;
  std::vector<bool> several_;
};

// Consumers come later in the order, so that a node is moved after all of them were noted.
void GeneratorsBesideConsumers(Placing& p) {
  if (p.types.count() < 2) return;
  const Graph& graph = p.graph;
  Readers consumers(graph.num_node_ids());
  for (const NodeId n : p.order) {
    for (const Output& in : graph.data_inputs(n)) {
      if (in.node != kNoNode) consumers.Note(in.node, p.groups.Of(n).device);
    }
  }
  for (const NodeId n : p.order) {
    const bool generator =
        graph.num_inputs(n) == 0 && graph.num_outputs(n) == 1 && !IsRef(graph.output_type({n, 0}));
    if (generator) StayNear(p, n, consumers.The(n));
  }
}

void VariablesBesideReaders(Placing& p) {
  if (p.types.count() < 2) return;
  Readers readers(p.graph.num_node_ids());
  for (const NodeId n : p.order) {
    const NodeId root = p.groups.Root(n);
    for (const Output& in : p.graph.data_inputs(n)) {
      if (in.node == kNoNode || p.groups.Root(in.node) == root) continue;
      readers.Note(p.groups.Root(in.node), p.groups.Of(n).device);
    }
  }
  for (const NodeId n : p.order) {
    Group& group = p.groups.Of(n);
    Device* const reader = readers.The(n);  // noted for the root alone
    if (reader == nullptr || group.reason != PlaceCode::kResource) continue;
    if (group.device != p.types.host() || (group.mask & p.types.Bit(reader)) == 0) continue;
    group.device = reader;
    group.reason = PlaceCode::kGreedy;
    group.near = true;
  }
}

constexpr NeighbourRule kRules[] = {
    {"a node that moves data, or asks for a shape, is where its first input is", &FollowProducers},
    {"a node without inputs goes where its only consumers are", &GeneratorsBesideConsumers},
    {"a group around a resource that only the host's kernels serve goes where its values are read, "
     "if that is one device and may have it",
     &VariablesBesideReaders},
};

}  // namespace

absl::Span<const NeighbourRule> NeighbourRules() { return kRules; }

}  // namespace tenon
