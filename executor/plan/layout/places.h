// Storages that share one place in memory, since a step computes an output over an input.
#pragma once

#include <cstdint>
#include <vector>

#include "executor/plan/base/step_graph.h"
#include "executor/plan/layout/lifetimes.h"

namespace tenon {

// A forest of storages: the root of a tree represents all storages of its place. Not thread-safe,
// const functions included: Find shortens paths.
class Places {
 public:
  // At first each storage has a place of its own.
  explicit Places(size_t storages);

  // The storage that represents all storages of its place.
  int32_t Find(int32_t storage) const;
  // Whether another storage represents this one; false for the one that represents a shared place.
  bool IsShared(int32_t storage) const { return with_[storage] != storage; }
  // Moves `storage`, and all that it represents, to the place of `place`. No other storage may
  // represent `storage` yet (IsShared).
  void Share(int32_t storage, int32_t place) { with_[storage] = place; }

 private:
  mutable std::vector<int32_t> with_;  // by storage: its parent; itself at a root
};

// First lets the next value of a loop variable take the place of the variable, if one step of the
// loop computes the value, only in passes that have a next pass, and no later step of the pass
// reads the variable. That step itself may read it if its kernel allows to write over the input.
// Then lets each other step compute an output over an input that no later step reads, if its kernel
// allows that and an earlier step has made the input. Only storages of equal size in the arena
// share a place. On return, the entry in `lifetimes` of the storage that represents a place covers
// the lifetimes of all its storages. The entries of the others stay as they were.
Places SharePlaces(const StepGraph& graph, Lifetimes& lifetimes);

}  // namespace tenon
