#include "executor/cli/bisect/proof_task.h"

#include <algorithm>

#include "absl/strings/str_format.h"
#include "executor/cli/faults/exit_code.h"
#include "executor/cli/model/answers.h"
#include "executor/cli/model/feeds.h"
#include "executor/freeze/freeze.h"
#include "executor/proof/difference.h"
#include "executor/values/compare.h"
#include "executor/values/text.h"
#include "graph/base/one_line.h"
#include "graph/base/status_macros.h"

namespace tenon::cli {
namespace {

JudgeValue JudgeFrom(const ToleranceFlags& flags) {
  const bool told = flags.rtol || flags.atol || flags.max_ulp || flags.equal_nan;
  if (!told) {
    return [](const Tensor& right, const Tensor& is) {
      return FindDifference(right, is, Sameness::kBound);
    };
  }
  Tolerance tolerance = ToleranceFrom(flags);
  tolerance.equal_nan = true;  // the question is whether passes change the result
  return [tolerance](const Tensor& right, const Tensor& is) -> std::optional<std::string> {
    const Comparison comparison = Compare(is, right, tolerance);
    return comparison.ok ? std::nullopt : std::optional(comparison.problem);
  };
}

absl::Status FillInputs(ProofTask& task, const RequestFlags& flags) {
  FailingCase& failing = task.failing;
  if (!flags.inputs.empty() || !flags.input_files.empty()) {
    TENON_ASSIGN_OR_RETURN(const RunRequest request, ReadRequest(task.bench.names(), flags));
    failing.fetches = request.fetches;
    failing.inputs = {{"given", true, NamedFeeds(request)}};
    return absl::OkStatus();
  }
  TENON_ASSIGN_OR_RETURN(const Endpoints ends, RequestedEndpoints(task.bench.names(), flags));
  failing.fetches = ends.fetches;
  absl::StatusOr<std::vector<InputSet>> sets = MakeInputSets(failing.graph, ends.feeds);
  if (!sets.ok())
    return UsageError(absl::StrCat(sets.status().message(), "; give them with --input"));
  failing.inputs = *std::move(sets);
  // Tolerant rewrites promise to keep results for ordinary values only.
  std::erase_if(failing.inputs, [](const InputSet& set) { return !set.ordinary; });
  return absl::OkStatus();
}

// Freezes the model for what the case fetches and feeds. Results of the signature do not count:
// with --output a model may have no signature in use, and other nodes may be asked for.
absl::Status FoldVariables(ProofTask& task) {
  const Workbench& bench = task.bench;
  FailingCase& failing = task.failing;
  FreezeOptions freeze;
  freeze.keep_state = true;
  freeze.inits = bench.inits;
  freeze.keep = failing.fetches;
  for (const auto& [name, value] : failing.inputs.at(0).feeds) freeze.keep.push_back(name);
  Signature arguments = bench.signature == nullptr ? Signature() : *bench.signature;
  arguments.outputs.clear();
  absl::StatusOr<FrozenModel> frozen = Freeze(*bench.saved, bench.graph(), arguments, freeze,
                                              bench.host->devices(), bench.session_options);
  if (!frozen.ok()) return FaultOfFreezing(frozen.status());
  failing.graph = std::move(frozen->graph);
  if (!frozen->init.empty()) failing.inits = {frozen->init};
  return absl::OkStatus();
}

}  // namespace

void ProofFlags::Declare(Declarer& d) {
  DeclareFeeds(d);
  DeclareOutputs(d);
  DeclareTolerance(d);
  DeclareSignature(d);
  DeclareInit(d);
  DeclareFileIo(d);
  DeclarePlugins(d);
  DeclarePlacement(d);
  DeclareLevel(d);
  DeclarePasses(d);
  DeclareRewriting(d);
  DeclareTimeout(d);
  DeclareLimits(d);
  DeclareOutput(d);
}

void RollbackLog::AfterPass(const PassRun& run, const Graph&, const PassReport& row) {
  if (row.failed || row.left_undone)
    lines_.insert(absl::StrCat("pass ", run.pass, ": ", OneLine(row.reason)));
}

void TellRollbacks(const ProofTask& task, Invocation& invocation) {
  const std::set<std::string>& lines = task.rollbacks.lines();
  for (const std::string& line : lines) Warn(invocation.output, line);
  invocation.doc.Set("rolled_back", Json::ArrayOf(lines));
}

std::string ProofTask::ProgressText(std::string_view what, double seconds) const {
  return absl::StrFormat("%s: %s tried, %.0f s", what, Plural(sessions, "session"), seconds);
}

absl::StatusOr<std::unique_ptr<ProofTask>> OpenProofTask(const ProofFlags& flags,
                                                         bool stands_alone) {
  auto task = std::make_unique<ProofTask>();
  TENON_ASSIGN_OR_RETURN(task->bench, OpenWorkbench(flags));
  task->failing.graph = task->bench.graph();
  TENON_RETURN_IF_ERROR(FillInputs(*task, flags));
  Workbench& bench = task->bench;
  const bool of_folder = bench.saved.has_value();
  stands_alone &= of_folder;
  if (!of_folder) task->failing.inits = bench.inits;
  if (stands_alone) TENON_RETURN_IF_ERROR(FoldVariables(*task));
  const auto begin = [&bench, &flags, &sessions = task->sessions, fetches = task->failing.fetches,
                      from_folder = of_folder && !stands_alone](Session& session) {
    ++sessions;
    return from_folder ? InitializeState(session, bench, flags, fetches) : absl::OkStatus();
  };
  SessionOptions session_options = bench.session_options;
  session_options.pipeline.observers = {bench.watchers->reproducer(), &task->rollbacks};
  task->judge = std::make_unique<ResultJudge>(bench.host->devices(), std::move(session_options),
                                              JudgeFrom(flags), begin);
  for (const std::string& line : task->judge->DropFailing(task->failing))
    Warn(flags, absl::StrCat(line, "; it is left out"));
  return task;
}

}  // namespace tenon::cli
