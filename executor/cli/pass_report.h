// What the optimizer did, as a table and as JSON.
#pragma once

#include <string>

#include "executor/cli/json.h"
#include "executor/cli/text.h"
#include "grappler_lite/pipeline.h"

namespace tenon::cli {

std::string PassTable(const PipelineReport& report, const Style& style);
// The value of "passes".
Json PassesJson(const PipelineReport& report);
// "remove_identity 4, fold_cast 1"; empty for none.
std::string RewritesText(const PassReport& pass);

}  // namespace tenon::cli
