// Opens what bisect and reduce work on, as the command line describes it.
#pragma once

#include <atomic>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>

#include "executor/cli/model/workbench.h"
#include "executor/cli/options/request_flags.h"
#include "executor/proof/result_judge.h"

namespace tenon::cli {

// The flags of a command that tries rewrites and placements to find a wrong one.
struct ProofFlags : RequestFlags {
  void Declare(Declarer& d);
};

// Notes the passes that failed in trials and were rolled back, or were left undone, and why. Not
// thread-safe.
class RollbackLog : public PipelineObserver {
 public:
  bool wants_every_pass() const override { return false; }
  void AfterPass(const PassRun& run, const Graph& after, const PassReport& row) override;
  // "pass NAME: why", each line once.
  const std::set<std::string>& lines() const { return lines_; }

 private:
  std::set<std::string> lines_;
};

// A model, a case whose results may be wrong, and the judge of the results. The judge borrows from
// `bench` and `rollbacks`, so a ProofTask must not move.
struct ProofTask {
  Workbench bench;
  RollbackLog rollbacks;
  FailingCase failing;  // nobody has tried yet whether it fails
  std::unique_ptr<ResultJudge> judge;
  std::atomic<int64_t> sessions = 0;  // that the judge has made, for progress

  // The line of a Ticker: "reduce: 12 sessions tried, 3 s".
  std::string ProgressText(std::string_view what, double seconds) const;
};

// Opens the model. The inputs are one set, that of --input and --inputs, or else made-up sets with
// ordinary values only. Results are judged by --rtol, --atol, --max-ulp and --equal-nan if one of
// them is given, else by Sameness::kBound. Any NaN equals any other, with or without --equal-nan.
// Outputs that fail even without passes are left out, with a warning each: those that fail on the
// first set of inputs on which any output has a value. If all outputs fail on all inputs, all stay,
// without a warning. `flags` must outlive the result.
//
// `stands_alone` asks for a graph that can be written to a file and needs no folder. It counts for
// a SavedModel only. Then failing.graph is what the fetches need, frozen, and the nodes that are
// fed. Variables that it only reads are constants. Variables that it writes stay variables, and the
// node of failing.inits fills them. For a SavedModel without `stands_alone`, failing.inits is
// empty: the judge calls InitializeState for each session. For other models it is Workbench::inits.
//
// Errors are those of OpenWorkbench. With inputs of the command line, those of ReadRequest;
// without, those of RequestedEndpoints, and kUsage if no inputs can be made up. If `stands_alone`
// counts, also those of Freeze, after FaultOfFreezing.
absl::StatusOr<std::unique_ptr<ProofTask>> OpenProofTask(const ProofFlags& flags,
                                                         bool stands_alone = false);

// Warns on stderr of each pass that was rolled back, unless --quiet is given, and sets
// "rolled_back" in the document to an array of the same lines. In a trial that rolled a pass back,
// the pass cannot be the cause of a wrong result.
void TellRollbacks(const ProofTask& task, Invocation& invocation);

}  // namespace tenon::cli
