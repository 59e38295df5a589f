// graph_run reduce: finds the smallest graph and inputs for which the optimizer is still wrong.
#include <algorithm>
#include <chrono>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "executor/cli/bisect/fault_trial.h"
#include "executor/cli/bisect/proof_task.h"
#include "executor/cli/faults/exit_code.h"
#include "executor/cli/options/command.h"
#include "executor/cli/options/command_line.h"
#include "executor/cli/options/ticker.h"
#include "executor/cli/tensors/array_file.h"
#include "executor/proof/reduce.h"
#include "graph/base/status_macros.h"
#include "graph/io/io.h"
#include "plugin/host/loading/loader.h"

namespace tenon::cli {
namespace {

struct ReduceFlags : ProofFlags {
  std::string reduced;  // the file of the small graph

  void Declare(Declarer& d);
};

void ReduceFlags::Declare(Declarer& d) {
  ProofFlags::Declare(d);
  d.Group(FlagGroup::kOptimizer);
  d.Text("-o", reduced, "OUT", "where to write the small graph, and its inputs as .npz beside it",
         RefuseExportName);
}

constexpr char kNoReduction[] =
    ": it depends on what ran before, such as a plug-in keeps from call to call";

// "small.npz" beside "small.pbtxt.xz".
std::string ArchiveFor(const std::string& graph) {
  std::string_view base = graph;
  for (std::string_view extension : {".gz", ".xz", ".pbtxt", ".pb"})
    absl::ConsumeSuffix(&base, extension);
  return absl::StrCat(base, ".npz");
}

// The files of the smallest case so far. They are written during the search, which may take long
// and which a plug-in may end.
class SmallFiles {
 public:
  explicit SmallFiles(const ReduceFlags& flags)
      : graph_(flags.reduced), inputs_(ArchiveFor(flags.reduced)) {}

  const std::string& graph() const { return graph_; }
  const std::string& inputs() const { return inputs_; }

  absl::Status Write(const FailingCase& failing) {
    const auto start = Clock::now();
    TENON_RETURN_IF_ERROR(ExportFile(failing.graph, graph_));
    TENON_RETURN_IF_ERROR(SaveArchive(inputs_, failing.inputs[0].feeds));
    written_ = Clock::now();
    took_ = written_ - start;
    return absl::OkStatus();
  }

  // Writes, but spends at most a tenth of the time on it. An error is ignored, as the last write
  // reports it.
  void WriteInBetween(const FailingCase& failing) {
    if (Clock::now() - written_ >= 10 * took_) Write(failing).IgnoreError();
  }

 private:
  using Clock = std::chrono::steady_clock;

  const std::string graph_, inputs_;
  Clock::time_point written_;
  Clock::duration took_{};
};

// The command line "bisect …" for the written case, with the flags of its reduction.
std::string BisectCommandFor(const RequestFlags& flags, const SmallFiles& files,
                             const FailingCase& small) {
  return absl::StrCat("bisect ", ShellWord(files.graph()), " --inputs ", ShellWord(files.inputs()),
                      RequestArguments(small), OptimizerArguments(flags), PassArguments(flags),
                      JudgeArguments(flags));
}

bool AnyPluginHasAPass() {
  const std::vector<PluginInfo> plugins = ::tenon::Plugins();
  return std::any_of(plugins.begin(), plugins.end(), [](const PluginInfo& p) { return p.pass; });
}

// What is wrong with a failing case: empty if nothing is. Rewrites come before placement. If a
// plug-in's pass ends the process, all smaller cases are tried in processes of their own.
class Fault {
 public:
  static absl::StatusOr<Fault> Of(const ProofTask& task, const RequestFlags& flags) {
    Fault fault(*task.judge);
    if (AnyPluginHasAPass()) {
      TENON_ASSIGN_OR_RETURN(std::unique_ptr<FaultTrial> trial, FaultTrial::Make(flags));
      TENON_ASSIGN_OR_RETURN(fault.what_, trial->Of(task.failing));
      if (!fault.what_.empty()) fault.trial_ = std::move(trial);
    }
    if (fault.trial_ != nullptr) return fault;
    fault.what_ = fault.judge_.OptimizedIsWrong(task.failing);
    if (!fault.what_.empty()) return fault;
    fault.what_ = fault.judge_.PlacedIsWrong(task.failing);
    fault.of_placement_ = !fault.what_.empty();
    return fault;
  }

  const std::string& what() const { return what_; }
  // Whether a smaller case fails too: with any wrong result, or with the same last message.
  std::string StillIn(const FailingCase& smaller) const {
    if (of_placement_) return judge_.PlacedIsWrong(smaller);
    if (trial_ == nullptr) return judge_.OptimizedIsWrong(smaller);
    const absl::StatusOr<std::string> words = trial_->Of(smaller);
    return words.ok() && *words == what_ ? what_ : "";
  }
  // The command that goes on with the written case.
  std::string NextCommand(const RequestFlags& flags, const SmallFiles& files,
                          const FailingCase& small) const {
    return absl::StrCat(
        "graph_run ", trial_ == nullptr ? BisectCommandFor(flags, files, small)
                                        : trial_->CommandFor(files.graph(), files.inputs(), small));
  }
  // Whether the written case fails in a new process too. The pass of a plug-in may keep something
  // from call to call, and the case then depends on earlier calls.
  absl::StatusOr<bool> ComesBack(const RequestFlags& flags, const SmallFiles& files,
                                 const FailingCase& small) const {
    if (trial_ != nullptr || !AnyPluginHasAPass()) return true;
    TENON_ASSIGN_OR_RETURN(const std::unique_ptr<FaultTrial> trial, FaultTrial::Make(flags));
    TENON_ASSIGN_OR_RETURN(const std::string document,
                           trial->DocumentOf(BisectCommandFor(flags, files, small)));
    return document.find("\"wrong\":true") != document.npos;
  }

 private:
  explicit Fault(const ResultJudge& judge) : judge_(judge) {}

  const ResultJudge& judge_;
  std::unique_ptr<FaultTrial> trial_;
  std::string what_;
  bool of_placement_ = false;  // it is wrong without any pass, where nodes are placed and compiled
};

absl::Status ReduceModel(const ReduceFlags& flags, Invocation& invocation) {
  if (flags.reduced.empty())
    return UsageError("graph_run reduce needs -o OUT.pbtxt, where the small graph goes");
  TENON_ASSIGN_OR_RETURN(const std::unique_ptr<ProofTask> task,
                         OpenProofTask(flags, /*stands_alone=*/true));
  const Ticker ticker(flags, [&](double seconds) { return task->ProgressText("reduce", seconds); });
  TENON_ASSIGN_OR_RETURN(const Fault fault, Fault::Of(*task, flags));
  if (fault.what().empty()) {
    return absl::FailedPreconditionError(
        absl::StrCat(flags.paths.front(),
                     ": all rewrites together keep the answers, and so does the placement of all "
                     "nodes: there is nothing to reduce"));
  }
  // A pass that keeps something from call to call may be wrong once and never again: the search
  // would then end at an arbitrary case.
  if (fault.StillIn(task->failing).empty()) {
    return absl::FailedPreconditionError(
        absl::StrCat(flags.paths.front(), ": it was wrong once (", fault.what(),
                     ") and is right when it is tried again", kNoReduction));
  }
  SmallFiles files(flags);
  const GraphRunner runner(task->bench.host->devices(), task->bench.session_options);
  ReduceOptions how;
  how.on_smaller = [&](const FailingCase& smaller) { files.WriteInBetween(smaller); };
  const auto fails = [&](const FailingCase& smaller) { return !fault.StillIn(smaller).empty(); };
  TENON_ASSIGN_OR_RETURN(const Reduction reduction, Reduce(task->failing, runner, fails, how));
  const FailingCase& small = reduction.failing;
  TENON_RETURN_IF_ERROR(files.Write(small));
  const std::string still = fault.StillIn(small);
  TellRollbacks(*task, invocation);
  if (still.empty()) {
    return absl::FailedPreconditionError(
        absl::StrCat(flags.paths.front(), ": what was written, ", files.graph(), " and ",
                     files.inputs(), ", is right when it is tried again", kNoReduction));
  }
  TENON_ASSIGN_OR_RETURN(const bool comes_back, fault.ComesBack(flags, files, small));
  if (!comes_back) {
    return absl::FailedPreconditionError(absl::StrCat(flags.paths.front(), ": what was written, ",
                                                      files.graph(), " and ", files.inputs(),
                                                      ", is right in a new process", kNoReduction));
  }
  const std::string stopped =
      reduction.stopped ? absl::StrCat("after ", how.max_trials, " trials") : "";
  const std::string next = fault.NextCommand(flags, files, small);
  invocation.doc.Set("nodes_before", task->failing.graph.num_nodes())
      .Set("nodes_after", small.graph.num_nodes())
      .Set("output", small.fetches[0])
      .Set("what", still)
      .Set("runs", reduction.trials)
      .Set("stopped", stopped)
      .Set("graph", files.graph())
      .Set("inputs", files.inputs())
      .Set("next", next);
  const Style& style = invocation.style;
  invocation.text =
      absl::StrCat(flags.paths.front(), ": ", Plural(task->failing.graph.num_nodes(), "node"),
                   " -> ", small.graph.num_nodes(), " in ", Plural(reduction.trials, "trial"), "\n",
                   stopped.empty() ? ""
                                   : absl::StrCat(style.Yellow("stopped  "), stopped,
                                                  ": what is written may not be the smallest\n"),
                   style.Dim("written  "), files.graph(), " and ", files.inputs(), "\n",
                   style.Dim("still    "), still, "\n", style.Dim("next     "), next, "\n");
  return absl::OkStatus();
}

}  // namespace

extern const Command kReduceCommand = {
    .name = "reduce",
    .arguments = "MODEL",
    .fewest = 1,
    .most = 1,
    .what =
        "Write the smallest graph and inputs for which the optimizer still changes what a model "
        "answers.",
    .examples = {"graph_run reduce tests/golden/models/mlp/graph.pbtxt "
                 "--passes auto_mixed_precision_onednn_bfloat16 -o /tmp/small.pbtxt",
                 "graph_run reduce tests/golden/models/mlp/graph.pbtxt --input x=4x20xf32=ones "
                 "--passes auto_mixed_precision_onednn_bfloat16 --max-ulp 8 -o /tmp/small.pbtxt "
                 "--json"},
    .start = Start<ReduceFlags, ReduceModel>,
};

}  // namespace tenon::cli
