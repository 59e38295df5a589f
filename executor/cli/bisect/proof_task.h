// What bisect and reduce work on, as the command line says.
#pragma once

#include <set>

#include "executor/cli/model/workbench.h"
#include "executor/cli/options/request_flags.h"
#include "executor/proof/result_judge.h"

namespace tenon::cli {

// Of a command that tries rewrites and placements to find one that is wrong.
struct ProofFlags : RequestFlags {
  void Declare(Declarer& d);
};

// What passes were rolled back in the trials, and why.
class RollbackLog : public PipelineObserver {
 public:
  bool wants_every_pass() const override { return false; }
  void AfterPass(const PassRun& run, const Graph& after, const PassReport& row) override;
  const std::set<std::string>& lines() const { return lines_; }

 private:
  std::set<std::string> lines_;
};

// A model, a case of it, and the judge of its answers.
struct ProofTask {
  Workbench bench;
  RollbackLog rollbacks;
  FailingCase failing;
  std::unique_ptr<ResultJudge> judge;
};

// The model, the inputs that --input gives (or else made-up ones: only ordinary values), and who
// judges: --rtol, --atol, --max-ulp and --equal-nan where one of them is given, else
// Sameness::kBound. Any NaN is like another. Outputs that fail without any pass are left out, with
// a warning. `stands_alone`: the graph needs no folder; the variables of a SavedModel are constants
// of its own, and those that it writes are filled first.
absl::StatusOr<std::unique_ptr<ProofTask>> OpenProofTask(const ProofFlags& flags,
                                                         bool stands_alone = false);

// Warns of passes that were rolled back: a wrong answer is not theirs.
void TellRollbacks(const ProofTask& task, Invocation& invocation);

}  // namespace tenon::cli
