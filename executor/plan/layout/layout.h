// The place of every storage: in the arena, in a buffer that the caller gets, in a slot, a feed or
// a constant.
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
#include "executor/plan/tasks/task_graph.h"

namespace tenon {

struct Layout {
  Layout(Places shared, TaskGraph cut, LastUses uses)
      : places(std::move(shared)), tasks(std::move(cut)), last_uses(std::move(uses)) {}

  Places places;
  TaskGraph tasks;
  LastUses last_uses;
  // By storage of the graph, with its place set (Storage::where, index, offset). Entries of
  // storages that share a place are equal.
  std::vector<Storage> storages;
  // By step: the offset of its scratch memory in the arena, in lines of 64 bytes; 0 without
  // scratch.
  std::vector<uint32_t> scratch_line;
  uint64_t arena_bytes = 0;
  uint64_t arena_lower_bound = 0;  // ArenaLayout::lower_bound
  // The node whose step is the first to need the largest part of the arena, a value or scratch
  // memory. For a value that lives through a whole loop that is an Enter of the loop. kNoNode for
  // an empty arena, or if the step has no node.
  NodeId arena_largest = kNoNode;
  std::vector<FetchSpec> fetches;          // by fetch, with its place at the end of a run
  std::vector<FetchBuffer> fetch_buffers;  // the buffers that a run allocates for its caller
};

// Changes neither the graph nor the schedule. Both must outlive the layout. `input` says whether
// and how steps become tasks, and names nodes in errors. RESOURCE_EXHAUSTED if all values and
// scratch memory in the arena take more than 2^62 bytes together, or if scratch memory would begin
// behind the first 256 GiB; names arena_largest.
absl::StatusOr<Layout> MakeLayout(const PlanInput& input, const StepGraph& graph,
                                  const StepSchedule& schedule);

}  // namespace tenon
