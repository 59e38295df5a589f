// Which step is the last that uses a slot, and may let its tensor go, or take it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "executor/plan/base/step_graph.h"
#include "executor/plan/base/step_schedule.h"
#include "executor/plan/layout/lifetimes.h"

namespace tenon {

// Slots that are let go.
struct Releases {
  std::vector<std::vector<int32_t>> behind_step;  // empty: there are no slots
  std::vector<std::vector<int32_t>> behind_row;   // of a branch or loop that is over
};

// The graph and the schedule live longer.
class LastUses {
 public:
  LastUses(const StepGraph& graph, const StepSchedule& schedule, const Lifetimes& lifetimes);

  // Whether input i of the step is a slot that the step reads once, and that nobody uses until it
  // is written again.
  bool IsLast(int32_t step, size_t i) const;
  // A slot goes behind its last use, in the innermost row that has all its uses: behind a branch or
  // loop that uses it last, not within it.
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
