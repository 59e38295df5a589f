// The rows of steps of a StepGraph. Steps run in the order in which they were added. The graph
// itself is one row. Each loop is a row of its own, and so are two or more adjacent steps of a
// branch: a run repeats a loop, and jumps over such steps, as a whole. A step that opens a loop
// begins no row of a branch: it looks at its flag itself, and what follows the loop may begin a
// row. A branch that lies more than 128 rows deep gets no row: each of its steps looks at its flag.
#pragma once

#include <cstdint>
#include <vector>

#include "executor/plan/base/step_graph.h"

namespace tenon {

struct StepRow {
  int32_t parent = -1;  // the row that runs this row; -1: this is the graph's row
  int32_t depth = 0;    // the graph's row has depth 0
  int32_t loop = -1;    // of StepGraph::loops; -1: the row of a branch or of the graph
  int32_t guard = 0;  // of a branch: the row runs only if this flag lives. 0: the row of a loop or
                      // of the graph
  // The flags [first_flag, end_flag) are set by steps of this row and of rows within it, or by no
  // step. A run that skips a branch's row clears them. Both 0: there are none.
  int32_t first_flag = 0, end_flag = 0;
  std::vector<int32_t> entries;  // what the row runs, in order: steps; or -1 - r for row r
};

struct StepSchedule {
  std::vector<StepRow> rows;  // the graph's first; each behind its parent
  // By step: the row that has it as an entry. The step that closes a loop is no entry: for it, the
  // loop's row.
  std::vector<int32_t> row_of;

  // The innermost row that contains both rows, directly or through other rows. A row contains
  // itself.
  int32_t CommonRow(int32_t a, int32_t b) const;
};

// Cannot fail. Every loop of `graph` must be closed.
StepSchedule ScheduleSteps(const StepGraph& graph);

}  // namespace tenon
