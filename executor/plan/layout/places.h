// Storages that share one place, since a step computes the one where the other was.
#pragma once

#include <cstdint>
#include <vector>

#include "executor/plan/base/step_graph.h"
#include "executor/plan/layout/lifetimes.h"

namespace tenon {

class Places {
 public:
  // Each storage by itself.
  explicit Places(size_t storages);

  // The storage that stands for all that share its place.
  int32_t Find(int32_t storage) const;
  bool IsShared(int32_t storage) const { return with_[storage] != storage; }
  // `storage`, which shares none yet, goes where `place` stands for.
  void Share(int32_t storage, int32_t place) { with_[storage] = place; }

 private:
  mutable std::vector<int32_t> with_;  // by storage
};

// Lets steps compute over inputs that nobody reads after them, where their kernels can: first the
// next values of loop variables over the variables, then all others. `lifetimes` of places become
// those of all that share them.
Places SharePlaces(const StepGraph& graph, Lifetimes& lifetimes);

}  // namespace tenon
