// What the optimizer did, as a table and as JSON.
#pragma once

#include <string>

#include "executor/cli/options/compile_flags.h"
#include "executor/cli/options/invocation.h"
#include "executor/proof/numeric_verifier.h"
#include "executor/session/session.h"

namespace tenon::cli {

std::string PassTable(const PipelineReport& report, const Style& style);
// The value of "passes".
Json PassesJson(const PipelineReport& report);
// With --time-passes: "passes" in the document, or the table below the text.
void AddPasses(const Executable& executable, const WatchFlags& flags, Invocation& invocation);
// With --verify-each=numeric: what it compared, as "verified" in the document, or as a line below
// the text; and a warning if it had too little time.
void AddVerified(const NumericVerifier* verifier, const CompileFlags& flags,
                 Invocation& invocation);
// "remove_identity 4, fold_cast 1"; empty for none.
std::string RewritesText(const PassReport& pass);

}  // namespace tenon::cli
