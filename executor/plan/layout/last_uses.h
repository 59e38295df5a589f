// The last use of each slot. After it, the run releases the slot's tensor; or the step takes it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "executor/plan/base/step_graph.h"
#include "executor/plan/base/step_schedule.h"
#include "executor/plan/layout/lifetimes.h"

namespace tenon {

// Slots to release.
struct Releases {
  std::vector<std::vector<int32_t>> behind_step;  // empty: there are no slots
  std::vector<std::vector<int32_t>> behind_row;   // of a branch or loop that is over
};

// The graph and the schedule must outlive it.
class LastUses {
 public:
  LastUses(const StepGraph& graph, const StepSchedule& schedule, const Lifetimes& lifetimes);

  // Whether input i of the step is a slot that the step reads once, and that no step uses until it
  // is written again.
  bool IsLast(int32_t step, size_t i) const;
  // Releases each slot after its last use, in the innermost row that contains all of its uses. If a
  // branch or a loop uses it last, the release comes after the branch or loop, not within it.
  Releases FindReleases() const;

 private:
  struct VariableReader {
    int32_t loop, last;  // the step that reads it last in a pass
  };
  void FindVariableReaders();
  bool IsLastReader(int32_t step, int32_t storage) const;

  const StepGraph& graph_;
  const StepSchedule& schedule_;
  std::vector<int32_t> last_;  // by storage: step; -1: none; the number of steps: it is not let go
  std::vector<int32_t> row_;   // by storage: the innermost with all its uses
  absl::flat_hash_map<int32_t, VariableReader> variable_readers_;  // by storage
};

}  // namespace tenon
