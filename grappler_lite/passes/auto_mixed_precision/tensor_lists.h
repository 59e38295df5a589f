// Tensor lists. One op writes an element, and another op reads the element through a handle, so
// that both must agree on the type of the elements.
#pragma once

#include <vector>

#include "absl/functional/function_ref.h"
#include "grappler_lite/passes/auto_mixed_precision/type_slots.h"

namespace tenon {

// One list: all slots that hold its handle. Lists that are elements of one list count as that list.
struct TensorList {
  std::vector<int> elements;  // slots of floats that state the type of the elements
  // True if the handle goes to or comes from a node for which `follows` is false: another op may
  // then read or write elements in a way that nobody knows. Nodes without slots do not count.
  bool leaves = false;
};

// Returns the lists that have a slot of `floats` as element. `floats` and `handles` are the slots
// of floats and of variant handles of `g`. `follows(n)` says whether all that n does to the handle
// of a list is known.
std::vector<TensorList> FindTensorLists(const Graph& g, const TypeSlots& floats,
                                        const TypeSlots& handles,
                                        absl::FunctionRef<bool(NodeId)> follows);

}  // namespace tenon
