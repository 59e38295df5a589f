// Reports what the optimizer did, as a table and as JSON.
#pragma once

#include <string>

#include "executor/cli/options/compile_flags.h"
#include "executor/cli/options/invocation.h"
#include "executor/proof/numeric_verifier.h"
#include "executor/session/session.h"

namespace tenon::cli {

// A row for each pass that ran, in their order.
std::string PassTable(const PipelineReport& report, const Style& style);
// The value of the key "passes".
Json PassesJson(const PipelineReport& report);
// With --time-passes: sets "passes" in the document, or adds the table to the text.
void AddPasses(const Executable& executable, const WatchFlags& flags, Invocation& invocation);
// With --verify-each=numeric: sets "verified" in the document and adds a line to the text. Warns if
// the time was too short to compare everything. Does nothing if `verifier` is null.
void AddVerified(const NumericVerifier* verifier, const CompileFlags& flags,
                 Invocation& invocation);
// "remove_identity 4, fold_cast 1"; empty if there were none.
std::string RewritesText(const PassReport& pass);

}  // namespace tenon::cli
