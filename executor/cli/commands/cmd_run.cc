// graph_run run: goes from a file to results, once.
#include <atomic>
#include <optional>

#include "absl/strings/str_cat.h"
#include "executor/cli/bench/repeat.h"
#include "executor/cli/commands/cases.h"
#include "executor/cli/faults/exit_code.h"
#include "executor/cli/faults/interrupt.h"
#include "executor/cli/model/workbench.h"
#include "executor/cli/options/command.h"
#include "executor/cli/options/run_flags.h"
#include "executor/cli/options/ticker.h"
#include "executor/cli/passes/pass_report.h"
#include "executor/cli/reports/cluster_report.h"
#include "executor/cli/reports/page.h"
#include "executor/cli/reports/plan_report.h"
#include "executor/cli/reports/run_reports.h"
#include "executor/cli/reports/run_summary.h"
#include "executor/cli/reports/staging_report.h"
#include "executor/state/fixed_variables.h"
#include "executor/values/tensor_text.h"
#include "graph/base/status_macros.h"

namespace tenon::cli {
namespace {

constexpr int64_t kSummaryRuns = 20;  // enough to show how fast later runs are

struct RunFlags : TimedFlags {
  int64_t session_runs = 0;  // 0: the flag is not given, and there is one run
  bool story = false;

  void Declare(Declarer& d);
  void DeclareRequest(Declarer& d);
  void DeclareSession(Declarer& d);
};

void RunFlags::Declare(Declarer& d) {
  DeclareRequest(d);
  DeclareSignature(d);
  DeclareInit(d);
  DeclareSession(d);
  DeclareFileIo(d);
  DeclareCompiling(d);
  DeclareSchedule(d);
  DeclareRepetition(d, "run again and again for so long");
  DeclareSeed(d);
  DeclareTimeout(d);
  DeclareRecords(d);
  DeclareMemory(d);
  DeclareLimits(d);
  DeclareOutput(d);
  d.Flag("--story", story, "tell what each stage did, from the file to the result");
}

void RunFlags::DeclareRequest(Declarer& d) {
  DeclareFeeds(d);
  d.Group(FlagGroup::kData);
  d.Repeat("--output", outputs, "NAME[=SINK]",
           "fetch; SINK is -, @y.npy, @all.npz or @y.bin (default: the graph's outputs)");
  d.Repeat("--expect", expects, "NAME=SPEC",
           "compare; exit 3 where it differs; NAME=(ignored) compares nothing");
  DeclareTolerance(d);
}

void RunFlags::DeclareSession(Declarer& d) {
  d.Group(FlagGroup::kState);
  d.Integer("--session-runs", session_runs, "N",
            "the same feeds and fetches so many times in one session; --json has all of them", 1,
            kMaxRuns);
  d.Text("--cases", cases, "FILE",
         "run the cases of a JSON file in one session and compare; exit 3 where one differs");
}

// The number of a SavedModel's variables that are constants in runs.
size_t ConstantVariables(const Workbench& bench) {
  const FixedVariables* fixed = bench.session->fixed_variables();
  return fixed == nullptr ? 0 : fixed->constants().size();
}

void AddDetails(const RunOutcome& outcome, Json& doc) {
  const Executable& e = *outcome.executable;
  Json devices = Json::Object();
  for (const auto& [name, count] : NodesPerDevice(e)) devices.Set(name, count);
  const Times& times = TimesReport(e);
  Json times_json = Json::Object();
  times_json.Set("load", outcome.bench.load_ms)
      .Set("optimize", times.optimize)
      .Set("place", times.place)
      .Set("plan", times.plan)
      .Set("first_run", times.first_run);
  doc.Set("constant_variables", ConstantVariables(outcome.bench))
      .Set("nodes_imported", outcome.bench.graph().num_nodes())
      .Set("nodes_optimized", OptimizedGraph(e).num_nodes())
      .Set("devices", std::move(devices))
      .Set("times_ms", std::move(times_json))
      .Set("plan_cache", PlanCacheJson(e))
      .Set("host_staging", HostStagingJson(e));
  if (const ClusterSet* const clusters = ClustersOf(e))
    doc.Set("clusters", ClustersJson(*clusters));
}

Json RunJson(Json fetches) {
  Json json = Json::Object();
  json.Set("fetches", std::move(fetches));
  return json;
}

void WriteJson(RunOutcome& outcome, const RunFlags& flags, Json& doc) {
  doc.Set("fetches", FetchesJson(outcome.request, outcome.values))
      .Set("expect", ComparisonsJson(outcome.comparisons));
  if (flags.session_runs > 0) {
    Json runs = Json::Array();
    for (Json& fetches : outcome.earlier_runs) runs.Push(RunJson(std::move(fetches)));
    runs.Push(RunJson(FetchesJson(outcome.request, outcome.values)));
    doc.Set("runs", std::move(runs));
  }
  AddDetails(outcome, doc);
}

std::string ConstantsText(size_t variables, const Style& style) {
  if (variables == 0) return "";
  return absl::StrCat(style.Dim("state   "), Plural(static_cast<int64_t>(variables), "variable"),
                      " taken for constants, as nothing changes them\n");
}

std::string Footer(const RunOutcome& outcome, const Style& style) {
  const Executable& e = *outcome.executable;
  std::string devices;
  for (const auto& [name, count] : NodesPerDevice(e))
    absl::StrAppend(&devices, devices.empty() ? "" : ", ", name, " ", count);
  const Times& t = TimesReport(e);
  return absl::StrCat(style.Dim("nodes   "), outcome.bench.graph().num_nodes(), " imported, ",
                      OptimizedGraph(e).num_nodes(), " after optimization (", devices, ")\n",
                      ConstantsText(ConstantVariables(outcome.bench), style), style.Dim("times   "),
                      "load ", Millis(outcome.bench.load_ms), ", optimize ", Millis(t.optimize),
                      ", place ", Millis(t.place), ", plan ", Millis(t.plan), ", run ",
                      Millis(t.first_run), "\n");
}

std::string ResultText(const RunOutcome& outcome, const RunFlags& flags, const Style& style) {
  std::string text;
  for (size_t i = 0; i < outcome.request.outputs.size(); ++i) {
    const NamedSink& target = outcome.request.outputs[i];
    const Tensor& value = outcome.values[i];
    if (!value.initialized()) continue;  // a node without outputs
    absl::StrAppend(&text, style.Bold(target.name), "  ", TypeText(value.dtype(), value.shape()));
    if (target.sink == "-") {
      absl::StrAppend(&text, "\n", TensorText(value, "  "));
    } else {
      absl::StrAppend(&text, "  -> ", target.sink.substr(1), "\n");
    }
  }
  for (const NamedComparison& c : outcome.comparisons) text += ComparisonLine(c, style);
  if (flags.quiet) return text;
  absl::StrAppend(&text, "\n", Footer(outcome, style));
  if (flags.verbose) absl::StrAppend(&text, "\n", PlanText(*outcome.executable));
  return text;
}

absl::Status RunAll(RunOutcome& outcome, const RunFlags& flags, RunWatch& watch) {
  Session& session = *outcome.bench.session;
  TENON_RETURN_IF_ERROR(Warm(session, outcome.executable, outcome.request.feeds, flags.warmup));
  Repetition repetition = RepetitionFrom(flags, {.runs = flags.story ? kSummaryRuns : 1});
  // One run leaves nothing to print until it has ended: a signal then ends the process at once.
  std::optional<StopOnInterrupt> stop;
  if (flags.session_runs > 1 || repetition.runs > 1) stop.emplace();
  // The last of these runs is the one that counts, below.
  for (int64_t i = 1; i < flags.session_runs; ++i) {
    TENON_ASSIGN_OR_RETURN(std::vector<Tensor> values,
                           session.Run(outcome.executable, outcome.request.feeds));
    if (flags.json) outcome.earlier_runs.push_back(FetchesJson(outcome.request, values));
    // The one that counts is still to come: reports are about it.
    if (Interrupted()) break;
  }
  repetition.recorder = watch.Begin();
  std::atomic<int64_t> finished = 0;
  repetition.finished = &finished;
  const Ticker ticker(flags, [&](double seconds) {
    return RepetitionText("running", repetition, seconds, finished);
  });
  absl::StatusOr<Repeated> repeated =
      Repeat(session, outcome.executable, outcome.request.feeds, repetition, nullptr);
  watch.End();
  TENON_RETURN_IF_ERROR(repeated.status());
  outcome.values = std::move(repeated->values);
  outcome.run_us = std::move(repeated->run_us);
  return absl::OkStatus();
}

// Refuses flags that are about the one run of a command without --cases.
absl::Status CheckFlagsOfCases(const RunFlags& flags) {
  const std::pair<bool, std::string_view> given[] = {
      {flags.session_runs > 0, "--session-runs"},
      {flags.runs >= 0, "--runs"},
      {flags.seconds >= 0, "--seconds"},
      {flags.warmup >= 0, "--warmup"},
      {flags.concurrency > 1, "--concurrency"},
      {!flags.traces.empty(), "--trace"},
      {!flags.op_table.empty(), "--op-table"},
      {flags.memory, "--memory"},
      {flags.story, "--story"},
  };
  for (const auto& [is_given, flag] : given) {
    if (is_given) {
      return UsageError(absl::StrCat("--cases runs each case once, and ", flag,
                                     " is about one model and its inputs; run the case alone, with "
                                     "--input and --output"));
    }
  }
  return absl::OkStatus();
}

// What the page tells of the results.
Json AnswerJson(const RunOutcome& outcome) {
  Json fetches = Json::Array();
  for (size_t i = 0; i < outcome.request.outputs.size(); ++i) {
    const Tensor& value = outcome.values[i];
    if (!value.initialized()) continue;  // a node without outputs
    Json json = Json::Object();
    json.Set("name", outcome.request.outputs[i].name)
        .Set("type", TypeText(value.dtype(), value.shape()))
        .Set("text", TensorText(value));
    fetches.Push(std::move(json));
  }
  Json json = Json::Object();
  json.Set("fetches", std::move(fetches)).Set("expect", ComparisonsJson(outcome.comparisons));
  return json;
}

absl::Status TellOutcome(RunOutcome& outcome, const RunWatch& watch, const RunFlags& flags,
                         Page& page, Invocation& invocation) {
  std::vector<SinkTensor> sinks;
  for (size_t i = 0; i < outcome.request.outputs.size(); ++i)
    sinks.push_back({outcome.request.outputs[i], outcome.values[i]});
  TENON_RETURN_IF_ERROR(WriteSinks(sinks));
  TENON_ASSIGN_OR_RETURN(outcome.comparisons, CompareAll(outcome.request, outcome.values, flags));
  if (page.wanted()) page.Set("answer", AnswerJson(outcome));
  if (invocation.json()) {
    WriteJson(outcome, flags, invocation.doc);
  } else {
    invocation.text = flags.story ? RunSummary(outcome, flags.paths.front(), invocation.style)
                                  : ResultText(outcome, flags, invocation.style);
  }
  AddPasses(*outcome.executable, flags, invocation);
  AddVerified(outcome.bench.watchers->verifier(), flags, invocation);
  TENON_RETURN_IF_ERROR(AddRunReports(*outcome.executable, watch, flags, invocation));
  TENON_RETURN_IF_ERROR(EndOfInterrupted());
  return MismatchStatus(outcome.comparisons);
}

absl::Status RunAndTell(RunOutcome& outcome, const RunFlags& flags, Page& page,
                        Invocation& invocation) {
  RunWatch watch(flags, page.wanted());
  const absl::Status ran = RunAll(outcome, flags, watch);
  page.AddPlan(*outcome.executable, outcome.bench.load_ms);
  TENON_RETURN_IF_ERROR(HintAtInit(outcome.bench, ran));
  watch.SetBefore(BeforeRuns(*outcome.executable, outcome.bench.load_ms, outcome.request));
  page.AddTimes(watch);
  page.AddTimeline(watch);
  return TellOutcome(outcome, watch, flags, page, invocation);
}

absl::Status Run(const RunFlags& given, Invocation& invocation) {
  RunFlags flags = given;
  flags.keep_costs = !flags.op_table.empty() || !flags.report.empty();
  if (!flags.cases.empty()) TENON_RETURN_IF_ERROR(CheckFlagsOfCases(flags));
  RunOutcome outcome;
  TENON_ASSIGN_OR_RETURN(outcome.bench, OpenWorkbench(flags));
  if (!flags.cases.empty()) return RunCases(outcome.bench, flags, invocation);
  TENON_ASSIGN_OR_RETURN(outcome.request, ReadRequest(outcome.bench.names(), flags));
  if (NumericVerifier* verifier = outcome.bench.watchers->verifier())
    verifier->AddInputs(NamedFeeds(outcome.request));
  TENON_RETURN_IF_ERROR(InitializeState(outcome.bench, flags, outcome.request.fetches));
  TENON_ASSIGN_OR_RETURN(
      outcome.executable,
      PrepareExecutable(outcome.bench, flags, outcome.request.feed_names, outcome.request.fetches));
  Page page(flags);
  // The page is written of a run that failed, too.
  return page.Write(outcome.bench, *outcome.executable, &outcome.request,
                    RunAndTell(outcome, flags, page, invocation));
}

}  // namespace

extern const Command kRunCommand = {
    .name = "run",
    .arguments = "MODEL",
    .fewest = 1,
    .most = 1,
    .what =
        "Import, optimize, place, plan and run a graph once; print, save or compare what it "
        "answers.",
    .examples = {"graph_run run tests/golden/models/mlp/graph.pbtxt --input "
                 "'x=4x20xf32=random(seed=1)'",
                 "graph_run run tests/golden/saved_models/affine_state/model --signature count "
                 "--input x=2x4xf32=ones --session-runs 3 --json"},
    .start = Start<RunFlags, Run>,
};

}  // namespace tenon::cli
