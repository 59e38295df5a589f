// A lifetime is an interval of steps. If a storage is used inside and outside of a loop, its
// lifetime spans the whole loop, from the opening step to the closing step.

#include "executor/plan/layout/lifetimes.h"

#include <algorithm>

namespace tenon {
namespace {

constexpr int32_t kUnused = -2;

// Calls use(storage, step) for each argument of each step.
template <typename Use>
void EachUse(const StepGraph& graph, Use use) {
  for (int32_t k = 0; k < graph.num_steps(); ++k) {
    for (int32_t s : graph.Args(graph.steps[k])) {
      if (s >= 0) use(s, k);
    }
  }
}

int32_t CommonLoop(const StepGraph& graph, int32_t a, int32_t b) {
  // Outer loops are opened first: of two loops, the one with the larger index never contains the
  // other one. -1, no loop, is the smallest.
  while (a != b) {
    int32_t& later = a > b ? a : b;
    later = graph.loops[later].parent;
  }
  return a;
}

// The steps of a loop run again in the next pass. So a storage that one pass hands to the next, or
// that comes from outside, must not be overwritten within the loop after its last reader there.
void ExtendOverLoops(const StepGraph& graph, Lifetimes& lifetimes) {
  std::vector<int32_t> loop(graph.storages.size(), kUnused);  // the innermost with all uses
  EachUse(graph, [&](int32_t s, int32_t k) {
    const int32_t of_step = graph.steps[k].loop;
    loop[s] = loop[s] == kUnused ? of_step : CommonLoop(graph, loop[s], of_step);
  });
  EachUse(graph, [&](int32_t s, int32_t k) {
    int32_t inner = graph.steps[k].loop;
    if (inner == loop[s]) return;
    while (graph.loops[inner].parent != loop[s]) inner = graph.loops[inner].parent;
    lifetimes.first[s] = std::min(lifetimes.first[s], graph.loops[inner].open_step);
    lifetimes.last[s] = std::max(lifetimes.last[s], graph.loops[inner].close_step);
  });
}

}  // namespace

Lifetimes FindLifetimes(const StepGraph& graph) {
  const int32_t end = graph.num_steps();
  Lifetimes lifetimes;
  lifetimes.first.assign(graph.storages.size(), end);
  lifetimes.last.assign(graph.storages.size(), -1);
  EachUse(graph, [&](int32_t s, int32_t k) {
    lifetimes.first[s] = std::min(lifetimes.first[s], k);
    lifetimes.last[s] = std::max(lifetimes.last[s], k);
  });
  if (!graph.loops.empty()) ExtendOverLoops(graph, lifetimes);
  for (int32_t id : graph.fetch_values) {
    if (id >= 0) lifetimes.last[graph.values[id].storage] = end;
  }
  for (int32_t s : graph.held) lifetimes.last[s] = end;
  return lifetimes;
}

}  // namespace tenon
