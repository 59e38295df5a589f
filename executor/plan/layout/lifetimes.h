// The first and the last step that use each storage.
#pragma once

#include <cstdint>
#include <vector>

#include "executor/plan/base/step_graph.h"

namespace tenon {

// Both vectors are by storage and hold indices of steps. "The number of steps" stands for a step
// behind all others.
struct Lifetimes {
  std::vector<int32_t> first;  // the number of steps: no step uses it
  std::vector<int32_t> last;   // -1: no step; the number of steps: it lives to the end of the run
};

// The lifetimes of all storages. A storage that steps of a loop share with steps outside of the
// loop lives at least from the step that opens the loop to the step that closes it. Fetched
// storages and StepGraph::held live to the end.
Lifetimes FindLifetimes(const StepGraph& graph);

}  // namespace tenon
