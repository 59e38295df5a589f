// Rules that spare copies: they move a node or a group that asks for no device to the device of its
// producers or readers.

#include "executor/place/rules.h"
#include "executor/place/spread.h"
#include "graph/op_defs/op_facts.h"

namespace tenon {
namespace {

// Moves node n to a neighbour's device if n is alone in its group, asks for no device, may run
// there, and is where it is for a reason that yields. A node that was kept from before the passes
// stays; if it is there already, it counts as near.
void StayNear(Placing& p, NodeId n, Device* device) {
  Group& group = p.groups.Of(n);
  if (p.kept[n]) group.near = group.device == device;
  if (device == nullptr || group.size > 1 || group.request != nullptr || p.kept[n]) return;
  if ((group.mask & p.types.Bit(device)) == 0 || !FactsOf(group.reason).yields_to_neighbours)
    return;
  if (group.device != device) group.reason = PlaceCode::kGreedy;
  group.device = device;
  group.near = true;
}

// Producers come first in the order, so a chain of such nodes follows its first producer.
void FollowProducers(Placing& p) {
  for (const NodeId n : p.order) {
    const Group& group = p.groups.Of(n);
    const bool follows = p.graph.facts(n).metadata || (group.movers_only && group.size == 1);
    if (follows && p.graph.num_inputs(n) > 0)
      StayNear(p, n, p.groups.Of(p.graph.inputs(n)[0].node).device);
  }
}

// For each id of a node or a group: the one device on which all of its readers are.
class Readers {
 public:
  explicit Readers(size_t count) : device_(count, nullptr), several_(count, false) {}
  // A reader of `of` is on `device`.
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

// All consumers are noted before a node is moved. A moved node is a generator, which reads nothing,
// so the notes stay true.
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

// TensorFlow puts these groups on the device in any case, and copies the value back for each reader
// on the CPU. Here a group moves only if all of its readers are on one device.
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
    // A node that was kept is alone in its group, and its resource is on the host.
    if (p.kept[n] || group.device != p.types.host() || reader == group.device) continue;
    if ((group.mask & p.types.Bit(reader)) == 0) continue;
    group.device = reader;
    group.reason = PlaceCode::kGreedy;
    group.near = true;
  }
}

constexpr NeighbourRule kNeighbourRules[] = {
    {"with PlacerOptions::spread, branches that do not need each other go to different devices of "
     "a "
     "type",
     &SpreadBranches},
    {"a node that moves data, or asks for a shape, is where its first input is", &FollowProducers},
    {"a node without inputs goes where its only consumers are", &GeneratorsBesideConsumers},
    {"a group around a resource that only the host's kernels serve goes where its values are read, "
     "if that is one device and may have it",
     &VariablesBesideReaders},
};

}  // namespace

absl::Span<const NeighbourRule> NeighbourRules() { return kNeighbourRules; }

}  // namespace tenon
