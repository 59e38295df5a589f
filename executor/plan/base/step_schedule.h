// The rows of steps of a StepGraph. Steps run in the order in which they were added. The graph
// itself is one row. Each loop, and each branch that is worth jumping over, is a row of its own.
#pragma once

#include <cstdint>
#include <vector>

#include "executor/plan/base/step_graph.h"

namespace tenon {

struct StepRow {
  int32_t parent = -1;  // the row that runs this row; -1: this is the graph's row
  int32_t depth = 0;
  int32_t loop = -1;  // of StepGraph::loops; -1: the row of a branch or of the graph
  int32_t guard = 0;  // of a branch: the row runs only if this flag lives
  int32_t first_flag = 0, end_flag = 0;  // that steps of a branch set
  std::vector<int32_t> entries;          // steps; -1 - r: row r
};

struct StepSchedule {
  std::vector<StepRow> rows;    // the graph's first; each behind its parent
  std::vector<int32_t> row_of;  // by step

  // The innermost row that runs both rows, directly or through other rows.
  int32_t CommonRow(int32_t a, int32_t b) const;
};

StepSchedule ScheduleSteps(const StepGraph& graph);

}  // namespace tenon
