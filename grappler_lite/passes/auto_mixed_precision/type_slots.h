// The places in the attributes of nodes that say what type some of their tensors have.
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

// n's attributes with this type in these places.
NewAttrs AttrsWith(const Graph& g, NodeId n, absl::Span<const TypeSlot> slots, DataType type);

// All places of a graph that hold one type, numbered in order of nodes. Those of nodes that take or
// give references are left out.
class TypeSlots {
 public:
  static constexpr int kNone = -1;

  TypeSlots(const Graph& graph, DataType type);

  int size() const { return first_.back(); }
  int begin(NodeId n) const { return first_[n]; }
  int end(NodeId n) const { return first_[n + 1]; }
  const TypeSlot& at(int slot) const {
    const NodeId n = node_[slot];
    return layouts_[layout_[n]].slots[slot - first_[n]];
  }
  NodeId node(int slot) const { return node_[slot]; }

  // The place that says what type a tensor has; kNone if it is another type.
  int OfInput(NodeId n, int input) const { return Of(n, layouts_[layout_[n]].inputs, input); }
  int OfOutput(Output o) const {
    return o.is_control() ? kNone : Of(o.node, layouts_[layout_[o.node]].outputs, o.port);
  }
  // The attribute of this name; kNone if it holds another type.
  int Find(NodeId n, std::string_view attr) const;

 private:
  // What nodes of one kind have.
  struct Layout {
    std::vector<TypeSlot> slots;
    std::vector<int> inputs, outputs;  // by tensor: which of the slots, or kNone
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
