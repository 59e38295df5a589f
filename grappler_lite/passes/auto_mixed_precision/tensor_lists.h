// Tensor lists: what one op writes another reads through a handle, so that both must agree on the
// type of the elements.
#pragma once

#include <vector>

#include "absl/functional/function_ref.h"
#include "grappler_lite/passes/auto_mixed_precision/type_slots.h"

namespace tenon {

// A list is all that holds its handle; lists that are elements of one list are one with it.
struct TensorList {
  std::vector<int> elements;  // slots of floats that say what its elements are
  bool leaves = false;        // the handle goes where nobody can follow it
};

// The lists of floats. `follows`: whether all that a node which is no op of lists does to handles
// is to pass them on.
std::vector<TensorList> FindTensorLists(const Graph& g, const TypeSlots& floats,
                                        const TypeSlots& handles,
                                        absl::FunctionRef<bool(NodeId)> follows);

}  // namespace tenon
