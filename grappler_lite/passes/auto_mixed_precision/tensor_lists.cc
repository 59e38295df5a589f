// Union-find over the handles of lists: handles that an edge or a list op connects may be one list,
// so all elements of a set must have one type.

#include "grappler_lite/passes/auto_mixed_precision/tensor_lists.h"

#include "graph/op_defs/op_facts.h"
#include "grappler_lite/passes/auto_mixed_precision/joined_sets.h"

namespace tenon {
namespace {

constexpr std::string_view kElementType = "element_dtype";

}  // namespace

std::vector<TensorList> FindTensorLists(const Graph& g, const TypeSlots& floats,
                                        const TypeSlots& handles,
                                        absl::FunctionRef<bool(NodeId)> follows) {
  JoinedSets sets(handles.size());
  for (NodeId n = 0; n < g.num_node_ids(); ++n) {
    if (!g.alive(n)) continue;
    for (int i = 0; i < g.num_inputs(n); ++i) {
      const int from = handles.OfOutput(g.data_inputs(n)[i]), to = handles.OfInput(n, i);
      if (from != TypeSlots::kNone && to != TypeSlots::kNone) sets.Join(from, to);
    }
    if (!g.facts(n).tensor_list) continue;
    // The handle of a list, and elements of it that are handles too.
    for (int slot = handles.begin(n) + 1; slot < handles.end(n); ++slot)
      sets.Join(handles.begin(n), slot);
  }
  std::vector<TensorList> lists(handles.size());
  for (int slot = 0; slot < handles.size(); ++slot) {
    const NodeId n = handles.node(slot);
    TensorList& list = lists[sets.Of(slot)];
    list.leaves |= !follows(n);
    if (slot != handles.begin(n) || !g.facts(n).tensor_list) continue;
    const int element = floats.Find(n, kElementType);
    if (element != TypeSlots::kNone) list.elements.push_back(element);
  }
  std::erase_if(lists, [](const TensorList& list) { return list.elements.empty(); });
  return lists;
}

}  // namespace tenon
