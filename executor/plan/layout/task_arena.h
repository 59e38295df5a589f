// The arena of a plan with tasks.
#pragma once

#include <cstdint>

#include "absl/types/span.h"
#include "executor/plan/base/step_graph.h"
#include "executor/plan/layout/memory_planner.h"
#include "executor/plan/layout/places.h"
#include "executor/plan/tasks/task_graph.h"

namespace tenon {

// A plan whose arena would hold more values has no tasks (MakeLayout): the time of PlanTaskArena
// grows with the square of the number of buffers.
inline constexpr size_t kMostTaskBuffers = 2000;

// Lets two buffers overlap only if every use of one comes before the first use of the other in the
// order of the tasks, and within one task in that of its steps. `buffers` have the lifetimes of the
// order in the file. `owners`: by buffer, the storage that represents the place; or -1 - k for the
// scratch memory of step k.
ArenaLayout PlanTaskArena(const StepGraph& graph, const TaskGraph& tasks, const Places& places,
                          absl::Span<const BufferRequest> buffers,
                          absl::Span<const int32_t> owners);

}  // namespace tenon
