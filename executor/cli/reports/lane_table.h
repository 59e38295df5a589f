// --op-table: time by thread, and the critical path of a measured run.
#pragma once

#include <vector>

#include "executor/cli/options/invocation.h"
#include "executor/run/run_recorder.h"

namespace tenon::cli {

// Adds what the threads did in these runs: steps, mean time of a run in steps and in waits, and the
// share of the time of the runs in which the thread did neither. Time that a thread spends on tiles
// of another thread's kernel is not known, and counts as idle. Then the longest chain
// (LongestChain) of the run of median length, by the measured times of its steps.
//
// With --json sets "lanes" and "critical_path" in the document. Otherwise "text" adds both for
// people, and "lanes-csv" replaces the whole text by a row for each thread. Does nothing without
// runs.
void AddLaneTable(const std::vector<const RunSpan*>& runs, std::string_view form,
                  Invocation& invocation);

}  // namespace tenon::cli
