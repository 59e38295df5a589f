// One finished run with everything that made it.
#pragma once

#include <string>
#include <vector>

#include "executor/cli/model/answers.h"
#include "executor/cli/model/feeds.h"
#include "executor/cli/model/workbench.h"

namespace tenon::cli {

struct RunOutcome {
  Workbench bench;
  RunRequest request;
  Executable* executable = nullptr;  // of bench.session
  std::vector<Json> earlier_runs;    // of --session-runs: their fetches
  std::vector<Tensor> values;        // of request.fetches
  std::vector<double> run_us;        // of each run
  std::vector<NamedComparison> comparisons;
};

}  // namespace tenon::cli
