// The first and the last step that use each storage.
#pragma once

#include <cstdint>
#include <vector>

#include "executor/plan/base/step_graph.h"

namespace tenon {

// Both vectors are by storage and hold indices of steps.
struct Lifetimes {
  std::vector<int32_t> first;  // the number of steps: no step uses it
  std::vector<int32_t> last;   // -1: no step; the number of steps: it lives to the end of the run
};

// A storage that a loop shares with steps around it lives at least as long as the loop.
Lifetimes FindLifetimes(const StepGraph& graph);

}  // namespace tenon
