// The tasks of a plan: parts of the graph's row that threads may run at the same time.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "executor/plan/base/plan_input.h"
#include "executor/plan/base/step_graph.h"
#include "executor/plan/base/step_schedule.h"

namespace tenon {

// A task of the plan, before it has steps there. It runs its entries one after the other, in their
// order in the row.
struct PlannedTask : PlanTask {
  std::vector<int32_t> entries;  // indices into StepRow::entries of the graph's row, ascending
};

// A partial order of steps. No tasks: the plan is one row, in which each step comes after those
// before it.
struct TaskGraph {
  bool empty() const { return tasks.empty(); }
  // Whether every entry of task a has run before any entry of task b begins.
  bool Precedes(int32_t a, int32_t b) const { return (after[a][b / 64] >> (b % 64) & 1) != 0; }

  // By falling path_us, with NodeOrder::kFile by their first entries, with NodeOrder::kSeed as
  // drawn: a task stands before its followers.
  std::vector<PlannedTask> tasks;
  std::vector<int32_t> task_of;              // by step, those of branches and loops included
  std::vector<std::vector<uint64_t>> after;  // by task: a bit for each task that it precedes
  double cost_us = 0;                        // of all tasks
};

// Whether FindTasks may find tasks. To be asked before the arguments of FindTasks are made, which
// takes time.
bool AllowsTasks(const PlanInput& input, const StepGraph& graph);

// Cuts the graph's row into tasks. A step comes after each step before it in the row whose result
// it reads or writes over, or whose input it writes over; after the nodes that its node has an edge
// from, also through nodes without steps; and after all steps before it that touch what it touches
// without an argument to show it: state, flags of control flow, devices. Steps of a branch or a
// loop stay together. Except with InterOp::kAlways, a step joins a task if it waits for the last
// step there and for no other task, and if it is small or alone waits for that step. Small steps
// that wait for nothing join each other. A step that waits for a device joins no task.
//
// `place_of`: by storage, the storage that represents all storages of its place in memory.
//
// Empty without AllowsTasks (the input forbids tasks, has NodeOrder::kMemory or one thread, or the
// graph has one step or begins asynchronous calls); if tasks would not make the run clearly
// shorter, by the estimated times, except with InterOp::kAlways; or if there would be more than
// some thousands of tasks or too many edges between nodes.
TaskGraph FindTasks(const PlanInput& input, const StepGraph& graph, const StepSchedule& schedule,
                    absl::Span<const int32_t> place_of);

}  // namespace tenon
