// A slot is a place where the kind of a node names the type in question: a type attribute, or one
// entry of a list of types. Nodes of one kind share one layout.

#include "grappler_lite/passes/auto_mixed_precision/type_slots.h"

#include <algorithm>

#include "graph/op_defs/arg_ranges.h"

namespace tenon {
namespace {

// Of the attribute, or its default; the list of one for an attribute that is no list.
std::vector<DataType> TypesIn(const NodeKind& kind, const AttrDef& def) {
  const AttrValue* value = kind.attrs.Find(def.name);
  if (value == nullptr) value = kind.defaults.Find(def.name);
  if (value == nullptr) return {};
  if (def.is_list) return value->AsTypeList().value_or(std::vector<DataType>());
  return {value->AsType().value_or(DataType::kInvalid)};
}

}  // namespace

NewAttrs AttrsWith(const Graph& g, NodeId n, absl::Span<const TypeSlot> slots, DataType type) {
  NewAttrs attrs = AllAttrs(g, n);
  for (size_t i = 0; i < slots.size(); ++i) {
    if (slots[i].index == TypeSlot::kNoList) {
      PutAttr(attrs, slots[i].attr, attr::Type(type));
      continue;
    }
    // Those of one list follow each other.
    const AttrValue* value = g.attr(n, slots[i].attr);
    std::vector<DataType> types = value->AsTypeList().value();
    types[slots[i].index] = type;
    for (; i + 1 < slots.size() && slots[i + 1].attr == slots[i].attr; ++i)
      types[slots[i + 1].index] = type;
    PutAttr(attrs, slots[i].attr, attr::TypeList(types));
  }
  return attrs;
}

TypeSlots::Layout TypeSlots::LayoutOf(const NodeKind& kind, DataType type) {
  Layout layout;
  if (kind.op == nullptr || !kind.types_status.ok()) return layout;
  for (const std::vector<ArgDef>* args : {&kind.op->inputs, &kind.op->outputs}) {
    // A reference has the type of its variable, which must not change.
    if (std::ranges::any_of(*args, &ArgDef::is_ref)) return layout;
  }
  for (const AttrDef& def : kind.op->attrs) {
    if (def.kind != AttrKind::kType) continue;
    const std::vector<DataType> types = TypesIn(kind, def);
    for (int i = 0; i < static_cast<int>(types.size()); ++i) {
      if (types[i] == type) layout.slots.push_back({def.name, def.is_list ? i : TypeSlot::kNoList});
    }
  }
  const auto find = [&](std::string_view attr, int index) {
    const auto slot = std::ranges::find_if(
        layout.slots, [&](const TypeSlot& s) { return s.attr == attr && s.index == index; });
    return slot == layout.slots.end() ? kNone : static_cast<int>(slot - layout.slots.begin());
  };
  const auto fill = [&](const std::vector<ArgDef>& args, std::vector<int>& tensors) {
    for (const ArgDef& arg : args) {
      const int count = static_cast<int>(ArgLength(*kind.op, kind.attrs, arg).value_or(0));
      if (!arg.type_list_attr.empty()) {
        // The slots of a list are in its order.
        int slot = 0;
        const int end = static_cast<int>(layout.slots.size());
        while (slot < end && layout.slots[slot].attr != arg.type_list_attr) ++slot;
        for (int i = 0; i < count; ++i) {
          const bool is = slot < end && layout.slots[slot].attr == arg.type_list_attr &&
                          layout.slots[slot].index == i;
          tensors.push_back(is ? slot++ : kNone);
        }
        continue;
      }
      // The op fixes the type of this tensor. Its slot has no attribute: the slot takes part in the
      // flow and never changes.
      if (arg.type_attr.empty() && arg.type == type && find({}, TypeSlot::kNoList) == kNone)
        layout.slots.push_back({});
      const bool can = !arg.type_attr.empty() || arg.type == type;
      tensors.insert(tensors.end(), count, can ? find(arg.type_attr, TypeSlot::kNoList) : kNone);
    }
  };
  fill(kind.op->inputs, layout.inputs);
  fill(kind.op->outputs, layout.outputs);
  return layout;
}

TypeSlots::TypeSlots(const Graph& graph, DataType type)
    : layouts_(1), layout_(graph.num_node_ids(), 0), first_(graph.num_node_ids() + 1, 0) {
  absl::flat_hash_map<const NodeKind*, int> known;
  for (NodeId n = 0; n < graph.num_node_ids(); ++n) {
    if (graph.alive(n)) {
      const auto [layout, is_new] =
          known.try_emplace(&graph.kind(n), static_cast<int>(layouts_.size()));
      if (is_new) layouts_.push_back(LayoutOf(graph.kind(n), type));
      layout_[n] = layout->second;
    }
    node_.insert(node_.end(), layouts_[layout_[n]].slots.size(), n);
    first_[n + 1] = static_cast<int>(node_.size());
  }
}

int TypeSlots::Find(NodeId n, std::string_view attr) const {
  for (int slot = begin(n); slot < end(n); ++slot) {
    if (at(slot).attr == attr) return slot;
  }
  return kNone;
}

}  // namespace tenon
