// From which step to which the values in storages live.
#pragma once

#include <cstdint>
#include <vector>

#include "executor/plan/base/step_graph.h"

namespace tenon {

// By storage.
struct Lifetimes {
  std::vector<int32_t> first;  // step that uses it; the number of steps: none
  std::vector<int32_t> last;   // -1: none; the number of steps: it lives to the end of the run
};

// What a loop and the steps around it share lives as long as the loop.
Lifetimes FindLifetimes(const StepGraph& graph);

}  // namespace tenon
