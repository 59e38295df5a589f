// What the optimizer did, as a table and as JSON.
#pragma once

#include <string>

#include "executor/cli/invocation.h"
#include "executor/cli/workbench.h"
#include "executor/session.h"

namespace tenon::cli {

std::string PassTable(const PipelineReport& report, const Style& style);
// The value of "passes".
Json PassesJson(const PipelineReport& report);
// --explain-node, where it was asked for.
absl::Status AddNodeStory(const Workbench& bench, const Executable& executable,
                          Invocation& invocation);
// With --time-passes: "passes" in the document, or the table below the text.
void AddPasses(const Executable& executable, Invocation& invocation);
// "remove_identity 4, fold_cast 1"; empty for none.
std::string RewritesText(const PassReport& pass);

}  // namespace tenon::cli
