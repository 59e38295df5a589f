// A finished run and all that made it.
#pragma once

#include <string>
#include <vector>

#include "executor/cli/model/answers.h"
#include "executor/cli/model/feeds.h"
#include "executor/cli/model/workbench.h"

namespace tenon::cli {

// A member may point into members that stand before it, which are destroyed after it.
struct RunOutcome {
  Workbench bench;
  RunRequest request;
  Executable* executable = nullptr;  // owned by bench.session
  // With --json: the fetches of each run of --session-runs but the last. Else empty.
  std::vector<Json> earlier_runs;
  std::vector<Tensor> values;  // of request.fetches in order, of the first thread's last run
  // Microseconds of each timed run: of all but warm-up and earlier runs. An interrupt leaves at
  // least one.
  std::vector<double> run_us;
  std::vector<NamedComparison> comparisons;  // of `values`, one for each --expect in their order
};

}  // namespace tenon::cli
