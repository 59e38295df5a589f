// The place of every value: in the arena, in a buffer of the caller, or in a slot.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "executor/plan/base/plan_input.h"
#include "executor/plan/base/step_graph.h"
#include "executor/plan/base/step_schedule.h"
#include "executor/plan/layout/last_uses.h"
#include "executor/plan/layout/places.h"

namespace tenon {

struct Layout {
  Layout(Places shared, LastUses uses) : places(std::move(shared)), last_uses(std::move(uses)) {}

  Places places;
  LastUses last_uses;
  std::vector<Storage> storages;       // by storage of the graph: its place
  std::vector<uint32_t> scratch_line;  // by step
  uint64_t arena_bytes = 0;
  uint64_t arena_lower_bound = 0;
  NodeId arena_largest = kNoNode;  // the node with the largest value or scratch in the arena
  std::vector<FetchSpec> fetches;
  std::vector<FetchBuffer> fetch_buffers;
};

// The graph and the schedule must outlive the layout. RESOURCE_EXHAUSTED if no arena can hold all
// values; names a node.
absl::StatusOr<Layout> MakeLayout(const PlanInput& input, const StepGraph& graph,
                                  const StepSchedule& schedule);

}  // namespace tenon
