// Type slots: the places in a node's attributes that state types: of the node's tensors, or of the
// elements of a tensor list.
#pragma once

#include <deque>
#include <string_view>
#include <vector>

#include "absl/types/span.h"
#include "graph/ir/graph.h"
#include "graph/ir/new_attrs.h"

namespace tenon {

// A type attribute, or one type of an attribute that is a list.
struct TypeSlot {
  std::string_view attr;  // empty: the op fixes the type
  int index = kNoList;    // in the list

  static constexpr int kNoList = -1;
};

// n's attributes, with `type` in the slots `slots`: slots of n, each of an attribute, and those of
// one list next to each other.
NewAttrs AttrsWith(const Graph& g, NodeId n, absl::Span<const TypeSlot> slots, DataType type);

// All slots of a graph that hold one type, numbered in order of node ids. Nodes have no slots here
// if their op is unknown or declares reference inputs or outputs, or if their types could not be
// resolved. The views live as long as the graph's kinds; later changes of the graph do not show,
// and later nodes must not be asked about.
class TypeSlots {
 public:
  static constexpr int kNone = -1;

  TypeSlots(const Graph& graph, DataType type);

  // The slots of all nodes are 0 to size() - 1; the slots of node n are begin(n) to end(n) - 1.
  int size() const { return first_.back(); }
  int begin(NodeId n) const { return first_[n]; }
  int end(NodeId n) const { return first_[n + 1]; }
  const TypeSlot& at(int slot) const {
    const NodeId n = node_[slot];
    return layouts_[layout_[n]].slots[slot - first_[n]];
  }
  NodeId node(int slot) const { return node_[slot]; }

  // The slot that states the type of an input or output; kNone if the tensor has another type than
  // the one of these slots, or is a control edge.
  int OfInput(NodeId n, int input) const { return Of(n, layouts_[layout_[n]].inputs, input); }
  int OfOutput(Output o) const {
    return o.is_control() ? kNone : Of(o.node, layouts_[layout_[o.node]].outputs, o.port);
  }
  // The first slot of the attribute `attr` of node n; kNone if n has none: the attribute is missing
  // or holds other types.
  int Find(NodeId n, std::string_view attr) const;

 private:
  // The slots of a node of one kind.
  struct Layout {
    std::vector<TypeSlot> slots;
    std::vector<int> inputs, outputs;  // by tensor: index in `slots`, or kNone
  };
  static Layout LayoutOf(const NodeKind& kind, DataType type);
  int Of(NodeId n, const std::vector<int>& tensors, int i) const {
    return i < static_cast<int>(tensors.size()) && tensors[i] != kNone ? first_[n] + tensors[i]
                                                                       : kNone;
  }

  std::deque<Layout> layouts_;  // the first one is empty
  std::vector<int> layout_;     // by node
  std::vector<int> first_;      // by node, and the end
  std::vector<NodeId> node_;    // by slot
};

}  // namespace tenon
