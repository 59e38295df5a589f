// Opens what bisect and reduce work on, as the command line describes it.
#pragma once

#include <set>

#include "executor/cli/model/workbench.h"
#include "executor/cli/options/request_flags.h"
#include "executor/proof/result_judge.h"

namespace tenon::cli {

// The flags of a command that tries rewrites and placements to find a wrong one.
struct ProofFlags : RequestFlags {
  void Declare(Declarer& d);
};

// Notes the passes that were rolled back in trials, and why: each line once, sorted.
class RollbackLog : public PipelineObserver {
 public:
  bool wants_every_pass() const override { return false; }
  void AfterPass(const PassRun& run, const Graph& after, const PassReport& row) override;
  const std::set<std::string>& lines() const { return lines_; }

 private:
  std::set<std::string> lines_;
};

// A model, the case that fails, and the judge of its results. The judge borrows from the other
// members, so a ProofTask must not move.
struct ProofTask {
  Workbench bench;
  RollbackLog rollbacks;
  FailingCase failing;
  std::unique_ptr<ResultJudge> judge;
};

// Opens the model. The inputs are those of --input, or else made-up ones with ordinary values only.
// Results are judged by --rtol, --atol, --max-ulp and --equal-nan if one of them is given, else by
// Sameness::kBound. Any NaN equals any other. Outputs that fail even without passes are left out,
// with a warning. `stands_alone`: the graph needs no folder. Variables of a SavedModel become
// constants, and variables that it writes are filled first. `flags` must outlive the result. Errors
// are those of OpenWorkbench and ReadRequest, and kUsage if no inputs can be made up.
absl::StatusOr<std::unique_ptr<ProofTask>> OpenProofTask(const ProofFlags& flags,
                                                         bool stands_alone = false);

// Warns of passes that were rolled back: they cannot be the cause of a wrong result.
void TellRollbacks(const ProofTask& task, Invocation& invocation);

}  // namespace tenon::cli
