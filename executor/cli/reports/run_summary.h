// run --story: says what each stage did on the way from the file to the result.
#pragma once

#include <string>

#include "executor/cli/reports/run_outcome.h"
#include "executor/values/text.h"

namespace tenon::cli {

// About a screenful: import, passes, what plug-ins bring, placement, plan, run, comparison. The
// outcome must be that of a finished run, with all its members set; run_us may be empty. `model` is
// the name to show.
std::string RunSummary(const RunOutcome& outcome, const std::string& model, const Style& style);

}  // namespace tenon::cli
