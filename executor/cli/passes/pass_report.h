// Reports what the optimizer did, as a table and as JSON.
#pragma once

#include <string>

#include "executor/cli/options/compile_flags.h"
#include "executor/cli/options/invocation.h"
#include "executor/proof/numeric_verifier.h"
#include "executor/session/session.h"

namespace tenon::cli {

// A row for each entry of report.passes, in its order: a pass has a row for each round and each
// body of a function on which it worked. Passes that were skipped, rolled back or left undone
// (PassReport) have rows with the reason. Without entries "no pass ran" and a line end.
std::string PassTable(const PipelineReport& report, const Style& style);
// The value of the key "passes": an array of objects, for the same entries.
Json PassesJson(const PipelineReport& report);
// With --time-passes: sets "passes" in the document with --json, else adds the table to the text.
// Does nothing without --time-passes.
void AddPasses(const Executable& executable, const WatchFlags& flags, Invocation& invocation);
// `verifier` is that of --verify-each=numeric; null without this flag, and then nothing happens.
// Sets "verified" in the document and, unless --quiet is given, adds a line to the text. Warns if
// --verify-seconds was too short to compare everything; --quiet silences that too.
void AddVerified(const NumericVerifier* verifier, const CompileFlags& flags,
                 Invocation& invocation);
// The rewrites of a pass and how often each was applied, by name: "fold_cast 1, remove_identity 4".
// Empty if there were none.
std::string RewritesText(const PassReport& pass);

}  // namespace tenon::cli
