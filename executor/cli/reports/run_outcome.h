// A finished run and all that made it.
#pragma once

#include <string>
#include <vector>

#include "executor/cli/model/answers.h"
#include "executor/cli/model/feeds.h"
#include "executor/cli/model/workbench.h"

namespace tenon::cli {

// Members borrow from earlier ones and are destroyed first.
struct RunOutcome {
  Workbench bench;
  RunRequest request;
  Executable* executable = nullptr;  // owned by bench.session
  std::vector<Json> earlier_runs;    // with --session-runs: the fetches of the runs before the last
  std::vector<Tensor> values;        // of request.fetches, in their order
  std::vector<double> run_us;        // duration of each run in microseconds
  std::vector<NamedComparison> comparisons;
};

}  // namespace tenon::cli
