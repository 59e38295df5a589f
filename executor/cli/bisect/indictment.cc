#include "executor/cli/bisect/indictment.h"

#include <algorithm>

#include "executor/cli/faults/exit_code.h"
#include "executor/cli/model/answers.h"
#include "executor/cli/model/feeds.h"
#include "executor/cli/tensors/expect.h"
#include "executor/freeze/freeze.h"
#include "executor/proof/difference.h"
#include "graph/base/one_line.h"
#include "graph/base/status_macros.h"

namespace tenon::cli {
namespace {

JudgeValue JudgeFrom(const ToleranceFlags& flags) {
  const bool told = flags.rtol || flags.atol || flags.max_ulp || flags.equal_nan;
  if (!told) {
    return [](const Tensor& right, const Tensor& is) -> std::optional<std::string> {
      const auto difference = FindDifference(right, is, Sameness::kBound);
      return difference ? std::optional(difference->what) : std::nullopt;
    };
  }
  Tolerance tolerance = ToleranceFrom(flags);
  tolerance.equal_nan = true;  // what is asked is whether passes change the answer
  return [tolerance](const Tensor& right, const Tensor& is) -> std::optional<std::string> {
    if (!right.initialized() && !is.initialized()) return std::nullopt;
    const Comparison comparison = Compare(is, right, tolerance);
    return comparison.ok ? std::nullopt : std::optional(comparison.problem);
  };
}

absl::Status FillInputs(Indictment& indictment, const RequestFlags& flags) {
  Suspect& suspect = indictment.suspect;
  if (!flags.inputs.empty() || !flags.input_files.empty()) {
    TENON_ASSIGN_OR_RETURN(const RunRequest request, ReadRequest(indictment.bench.names(), flags));
    suspect.fetches = request.fetches;
    suspect.inputs = {{"given", true, NamedFeeds(request)}};
    return absl::OkStatus();
  }
  TENON_ASSIGN_OR_RETURN(const Endpoints ends, RequestedEndpoints(indictment.bench.names(), flags));
  suspect.fetches = ends.fetches;
  absl::StatusOr<std::vector<InputSet>> sets = MakeInputSets(suspect.graph, ends.feeds);
  if (!sets.ok())
    return UsageError(absl::StrCat(sets.status().message(), "; give them with --input"));
  suspect.inputs = *std::move(sets);
  std::erase_if(suspect.inputs, [](const InputSet& set) { return !set.ordinary; });
  return absl::OkStatus();
}

// Nodes that are asked for or fed keep their names if the signature names them.
absl::Status FoldVariables(Indictment& indictment) {
  const Workbench& bench = indictment.bench;
  Suspect& suspect = indictment.suspect;
  FreezeOptions freeze;
  freeze.keep_state = true;
  freeze.inits = bench.inits;
  TENON_ASSIGN_OR_RETURN(FrozenModel frozen,
                         Freeze(*bench.saved, bench.graph(), *bench.signature, freeze,
                                bench.host->devices(), bench.session_options));
  suspect.graph = std::move(frozen.graph);
  std::vector<std::string> needed = suspect.fetches;
  for (const auto& [name, value] : suspect.inputs.at(0).feeds) needed.push_back(name);
  for (const std::string& name : needed) {
    if (suspect.graph.ParseOutput(name).ok()) continue;
    return UsageError(absl::StrCat("signature '", bench.signature->name, "' does not need '", name,
                                   "', and what is written would lack the variables of the "
                                   "folder: ask for what a signature names"));
  }
  if (!frozen.init.empty()) suspect.inits = {frozen.init};
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
  if (row.failed) lines_.insert(absl::StrCat("pass ", run.pass, ": ", OneLine(row.reason)));
}

void TellRollbacks(const Indictment& indictment, Invocation& invocation) {
  const std::set<std::string>& lines = indictment.rollbacks.lines();
  for (const std::string& line : lines) Warn(invocation.output, line);
  invocation.doc.Set("rolled_back", Json::ArrayOf(lines));
}

absl::StatusOr<std::unique_ptr<Indictment>> OpenIndictment(const ProofFlags& flags,
                                                           bool stands_alone) {
  auto indictment = std::make_unique<Indictment>();
  TENON_ASSIGN_OR_RETURN(indictment->bench, OpenWorkbench(flags));
  indictment->suspect.graph = indictment->bench.graph();
  TENON_RETURN_IF_ERROR(FillInputs(*indictment, flags));
  Workbench& bench = indictment->bench;
  const bool of_folder = bench.saved.has_value();
  stands_alone &= of_folder;
  if (!of_folder) indictment->suspect.inits = bench.inits;
  if (stands_alone) TENON_RETURN_IF_ERROR(FoldVariables(*indictment));
  const auto begin = [&bench, &flags, fetches = indictment->suspect.fetches,
                      from_folder = of_folder && !stands_alone](Session& session) {
    return from_folder ? InitializeState(session, bench, flags, fetches) : absl::OkStatus();
  };
  SessionOptions session_options = bench.session_options;
  session_options.pipeline.observers = {bench.watchers->reproducer(), &indictment->rollbacks};
  indictment->court = std::make_unique<Court>(bench.host->devices(), std::move(session_options),
                                              JudgeFrom(flags), begin);
  for (const std::string& line : indictment->court->DropFailing(indictment->suspect))
    Warn(flags, absl::StrCat(line, "; it is left out"));
  return indictment;
}

}  // namespace tenon::cli
