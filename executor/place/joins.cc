#include "executor/place/joins.h"

#include "absl/strings/strip.h"
#include "graph/ir/colocation.h"

namespace tenon {
namespace {

// Producers and consumers of resources and references.
std::vector<NodePair> ResourcePairs(const Placing& p) {
  std::vector<NodePair> pairs;
  for (NodeId n = 0; n < p.graph.num_node_ids(); ++n) {
    if (!p.graph.alive(n) || p.kept[n]) continue;
    const auto& types = p.graph.kind(n).types.inputs;
    const std::span<const Output> inputs = p.graph.data_inputs(n);
    for (size_t i = 0; i < inputs.size() && i < types.size(); ++i) {
      if (inputs[i].node == kNoNode || p.kept[inputs[i].node]) continue;
      if (types[i] == DataType::kResource || IsRef(types[i])) pairs.emplace_back(inputs[i].node, n);
    }
  }
  return pairs;
}

// Nodes, each with a node that it names in its attribute _class.
std::vector<NodePair> ClassPairs(const Placing& p) {
  std::vector<NodePair> pairs;
  for (NodeId n = 0; n < p.graph.num_node_ids(); ++n) {
    if (!p.graph.alive(n) || p.kept[n]) continue;
    const AttrValue* attr = p.graph.attrs(n).Find(kColocationAttr);
    if (attr == nullptr) continue;
    const absl::StatusOr<std::vector<std::string_view>> classes = attr->AsStringList();
    if (!classes.ok()) continue;
    for (std::string_view c : *classes) {
      if (!absl::ConsumePrefix(&c, kColocationPrefix)) continue;
      // A pass may have removed the named node: then the request is void.
      const NodeId other = p.graph.FindNode(c);
      if (other != kNoNode && p.graph.alive(other) && !p.kept[other]) pairs.emplace_back(n, other);
    }
  }
  return pairs;
}

absl::Status Check(Placing& p, NodeId unserved) {
  if (unserved == kNoNode) return absl::OkStatus();
  return Refuse(p, unserved, "no device has kernels for all of its group");
}

}  // namespace

absl::Status JoinGroups(Placing& p) {
  // Nodes that share a resource cannot be apart, so this join has no soft form. It comes first: the
  // second one then keeps the groups whole.
  absl::Status joined =
      Check(p, p.groups.Join(ResourcePairs(p), /*by_resource=*/true, /*splits=*/false));
  if (!joined.ok()) return joined;
  return Check(p, p.groups.Join(ClassPairs(p), /*by_resource=*/false,
                                /*splits=*/p.options.soft_placement));
}

}  // namespace tenon
