// When each step of a StepGraph runs: in the order in which it was added. The steps of the graph
// are one row; those of each loop, and of each branch that is worth jumping over, are rows of their
// own.
#pragma once

#include <cstdint>
#include <vector>

#include "executor/plan/base/step_graph.h"

namespace tenon {

struct StepRow {
  int32_t parent = -1;  // the row that this one is run from
  int32_t depth = 0;
  int32_t loop = -1;  // of StepGraph::loops: whose steps these are; -1: of a branch, or the graph's
  int32_t guard = 0;  // of a branch: it is run while this flag lives
  int32_t first_flag = 0, end_flag = 0;  // that steps of a branch set
  std::vector<int32_t> entries;          // steps; -1 - r: row r
};

struct StepSchedule {
  std::vector<StepRow> rows;    // the graph's first; each behind its parent
  std::vector<int32_t> row_of;  // by step

  // The innermost row that both are run from.
  int32_t CommonRow(int32_t a, int32_t b) const;
};

StepSchedule ScheduleSteps(const StepGraph& graph);

}  // namespace tenon
