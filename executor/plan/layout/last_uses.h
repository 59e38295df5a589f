// The last use of each slot. After it, the run releases the slot's tensor; or the step takes it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "executor/plan/base/step_graph.h"
#include "executor/plan/base/step_schedule.h"
#include "executor/plan/layout/lifetimes.h"
#include "executor/plan/tasks/task_graph.h"

namespace tenon {

// The slots (numbers, not storages) that the run releases. Both vectors are empty if the graph has
// no slots.
struct Releases {
  std::vector<std::vector<int32_t>> behind_step;  // by step
  std::vector<std::vector<int32_t>> behind_row;   // by row: behind a branch or a whole loop
};

// The graph and the schedule must outlive this object; the constructor alone reads the
// lifetimes and the tasks.
class LastUses {
 public:
  // If there are tasks, a step counts as the last one to use a slot only if all other users have
  // run before it in the order of tasks.
  LastUses(const StepGraph& graph, const StepSchedule& schedule, const Lifetimes& lifetimes,
           const TaskGraph& tasks);

  // Whether input i of the step is a slot that
  // * the step reads as no other input, and
  // * no step uses after this step, in this pass of a loop or a later one, until a step writes the
  //   slot again, and
  // * is not in StepGraph::held, and
  // * is not fetched, unless it is a loop's variable that a step writes again before the run ends.
  // The step may then take the slot's tensor. True is certain. False may be given where all of this
  // holds, as in loops.
  bool IsLast(int32_t step, size_t i) const;
  // Finds the release of each slot after its last use, in the innermost row that contains all of
  // its uses. If a branch or a loop within that row uses it last, the release comes after the
  // branch or loop. No release for a slot that no step uses or that lives to the end of the run.
  Releases FindReleases() const;

 private:
  struct VariableReader {
    int32_t loop, last;  // `last`: the step that reads the slot last in a pass; -1: none
  };
  void FindVariableReaders();
  void KeepUnordered(const TaskGraph& tasks);
  bool IsLastReader(int32_t step, int32_t storage) const;

  const StepGraph& graph_;
  const StepSchedule& schedule_;
  // By storage: the last step that uses it; -1: none; the number of steps: it lives to the end.
  std::vector<int32_t> last_;
  std::vector<int32_t> row_;  // by storage: the innermost row with all its uses; -1: no use
  // Of loop variables that lie in slots, by storage.
  absl::flat_hash_map<int32_t, VariableReader> variable_readers_;
};

}  // namespace tenon
