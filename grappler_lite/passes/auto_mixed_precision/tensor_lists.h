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
  // Whether `follows` is false for a node, of those that have slots, that gives or takes the
  // handle.
  bool leaves = false;
};

// Returns the lists that have a slot of `floats` as element. `follows(n)` says whether
// all that n does to the handle of a list is known.
std::vector<TensorList> FindTensorLists(const Graph& g, const TypeSlots& floats,
                                        const TypeSlots& handles,
                                        absl::FunctionRef<bool(NodeId)> follows);

}  // namespace tenon
