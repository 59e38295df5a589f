// graph_run run: from a file to results, once.
#include "absl/strings/str_cat.h"
#include "executor/cli/element.h"
#include "executor/cli/exit_code.h"
#include "executor/cli/expect.h"
#include "executor/cli/pass_report.h"
#include "executor/cli/plan_report.h"
#include "executor/cli/repeat.h"
#include "executor/cli/run_reports.h"
#include "executor/cli/spec.h"
#include "executor/cli/story.h"
#include "executor/cli/tensor_text.h"
#include "executor/cli/workbench.h"
#include "graph/status_macros.h"

namespace tenon::cli {
namespace {

constexpr int64_t kStoryRuns = 20;        // a story also tells how fast it gets
constexpr int64_t kMaxJsonValues = 1024;  // larger tensors go to files

Json FetchJson(const NamedSink& target, const Tensor& value) {
  Json json = Json::Object();
  json.Set("name", target.name)
      .Set("dtype", DataTypeShortName(value.dtype()))
      .Set("shape", Json::ArrayOf(value.shape().dims()));
  const bool printable = IsMemcpyable(value.dtype()) || value.dtype() == DataType::kString;
  if (printable && value.initialized() && value.num_elements() <= kMaxJsonValues) {
    Json values = Json::Array();
    for (int64_t i = 0; i < value.num_elements(); ++i) values.Push(ElementJson(value, i));
    json.Set("values", std::move(values));
  }
  json.Set("sink", target.sink);
  return json;
}

Json ComparisonJson(const NamedComparison& c) {
  const bool comparable = c.result.comparable;
  Json json = Json::Object();
  json.Set("name", c.name)
      .Set("ok", c.result.ok)
      .Set("max_abs", comparable ? Json(c.result.max_abs) : Json())
      .Set("max_rel", comparable ? Json(c.result.max_rel) : Json())
      .Set("max_ulp", comparable ? Json(c.result.max_ulp) : Json())
      .Set("mismatches", c.result.mismatches);
  if (c.ignored) json.Set("ignored", true);
  if (!c.result.ok) json.Set("problem", c.result.problem);
  return json;
}

// --rtol and --atol stand for themselves; with --max-ulp alone only steps count.
Tolerance ToleranceFrom(const Options& options) {
  Tolerance tolerance;
  const bool ulp_only = options.max_ulp && !options.rtol && !options.atol;
  tolerance.rtol = options.rtol.value_or(ulp_only ? 0 : tolerance.rtol);
  tolerance.atol = options.atol.value_or(ulp_only ? 0 : tolerance.atol);
  tolerance.max_ulp = options.max_ulp;
  tolerance.equal_nan = options.equal_nan;
  return tolerance;
}

absl::StatusOr<std::vector<NamedComparison>> CompareAll(const RunRequest& request,
                                                        const std::vector<Tensor>& values,
                                                        const Options& options) {
  const Tolerance tolerance = ToleranceFrom(options);
  std::vector<NamedComparison> comparisons;
  for (const Expectation& e : request.expectations) {
    NamedComparison comparison{e.name, IsIgnoredSpec(e.spec), {}};
    if (!comparison.ignored) {
      const Tensor& got = values[e.fetch];
      absl::StatusOr<Tensor> want = ParseSpec(e.spec, {got.dtype(), got.shape()});
      if (!want.ok()) {
        return WithExit(ExitOf(want.status()),
                        absl::Status(want.status().code(), absl::StrCat("--expect ", e.name, ": ",
                                                                        want.status().message())));
      }
      comparison.result = Compare(got, *want, tolerance);
    }
    comparisons.push_back(std::move(comparison));
  }
  return comparisons;
}

absl::Status Verdict(const std::vector<NamedComparison>& comparisons) {
  int64_t wrong = 0;
  const NamedComparison* first = nullptr;
  for (const NamedComparison& c : comparisons) {
    if (c.result.ok) continue;
    if (wrong++ == 0) first = &c;
  }
  if (wrong == 0) return absl::OkStatus();
  return WithExit(
      Exit::kMismatch,
      absl::FailedPreconditionError(absl::StrCat(
          "--expect ", first->name, ": ", first->result.problem, " (",
          Plural(first->result.mismatches, "mismatch"),
          first->result.comparable ? absl::StrCat(", max_abs ", first->result.max_abs) : "", ")",
          wrong > 1 ? absl::StrCat("; ", wrong, " of ", comparisons.size(), " differ") : "")));
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
  doc.Set("nodes_imported", outcome.bench.graph().num_nodes())
      .Set("nodes_optimized", OptimizedGraph(e).num_nodes())
      .Set("devices", std::move(devices))
      .Set("times_ms", std::move(times_json))
      .Set("plan_cache", PlanCacheJson(e));
}

void WriteJson(const RunOutcome& outcome, Json& doc) {
  Json fetches = Json::Array(), expect = Json::Array();
  for (size_t i = 0; i < outcome.request.outputs.size(); ++i)
    fetches.Push(FetchJson(outcome.request.outputs[i], outcome.values[i]));
  for (const NamedComparison& c : outcome.comparisons) expect.Push(ComparisonJson(c));
  doc.Set("fetches", std::move(fetches)).Set("expect", std::move(expect));
  AddDetails(outcome, doc);
}

std::string ComparisonLine(const NamedComparison& c, const Style& style) {
  if (c.ignored) return absl::StrCat(style.Dim("ignored"), " ", c.name, "\n");
  if (!c.result.ok)
    return absl::StrCat(style.Red("differs"), " ", c.name, ": ", c.result.problem, "; ",
                        Plural(c.result.mismatches, "mismatch"), "\n");
  return absl::StrCat(style.Green("matches"), " ", c.name, "  max_abs ", c.result.max_abs,
                      ", max_ulp ", c.result.max_ulp, "\n");
}

std::string Footer(const RunOutcome& outcome, const Style& style) {
  const Executable& e = *outcome.executable;
  std::string devices;
  for (const auto& [name, count] : NodesPerDevice(e))
    absl::StrAppend(&devices, devices.empty() ? "" : ", ", name, " ", count);
  const Times& t = TimesReport(e);
  return absl::StrCat(style.Dim("nodes   "), outcome.bench.graph().num_nodes(), " imported, ",
                      OptimizedGraph(e).num_nodes(), " after optimization (", devices, ")\n",
                      style.Dim("times   "), "load ", Millis(outcome.bench.load_ms), ", optimize ",
                      Millis(t.optimize), ", place ", Millis(t.place), ", plan ", Millis(t.plan),
                      ", run ", Millis(t.first_run), "\n");
}

std::string ResultText(const RunOutcome& outcome, const Options& options, const Style& style) {
  std::string text;
  for (size_t i = 0; i < outcome.request.outputs.size(); ++i) {
    const NamedSink& target = outcome.request.outputs[i];
    const Tensor& value = outcome.values[i];
    absl::StrAppend(&text, style.Bold(target.name), "  ", TypeText(value.dtype(), value.shape()));
    if (target.sink == "-") {
      absl::StrAppend(&text, "\n", TensorText(value, "  "));
    } else {
      absl::StrAppend(&text, "  -> ", target.sink.substr(1), "\n");
    }
  }
  for (const NamedComparison& c : outcome.comparisons) text += ComparisonLine(c, style);
  if (options.quiet) return text;
  absl::StrAppend(&text, "\n", Footer(outcome, style));
  if (options.verbose) absl::StrAppend(&text, "\n", PlanText(*outcome.executable));
  return text;
}

absl::Status RunAll(RunOutcome& outcome, const Options& options, RunRecorder& recorder) {
  Session& session = *outcome.bench.session;
  TENON_RETURN_IF_ERROR(Warm(session, outcome.executable, outcome.request.feeds, options.warmup));
  Repetition repetition = RepetitionFrom(options, {.runs = options.story ? kStoryRuns : 1});
  repetition.recorder = WantsRecorder(options) ? &recorder : nullptr;
  TENON_ASSIGN_OR_RETURN(Repeated repeated, Repeat(session, outcome.executable,
                                                   outcome.request.feeds, repetition, nullptr));
  outcome.values = std::move(repeated.values);
  outcome.run_us = std::move(repeated.run_us);
  return absl::OkStatus();
}

}  // namespace

absl::Status RunCommand(Invocation& invocation) {
  const Options& options = invocation.options;
  RunOutcome outcome;
  TENON_ASSIGN_OR_RETURN(outcome.bench, OpenWorkbench(options));
  TENON_ASSIGN_OR_RETURN(outcome.request, ReadRequest(outcome.bench.graph(), options));
  TENON_ASSIGN_OR_RETURN(outcome.executable,
                         PrepareExecutable(outcome.bench, options, outcome.request.feed_names,
                                           outcome.request.fetches));
  RunRecorder recorder;
  TENON_RETURN_IF_ERROR(RunAll(outcome, options, recorder));
  std::vector<SinkTensor> sinks;
  for (size_t i = 0; i < outcome.request.outputs.size(); ++i)
    sinks.push_back({outcome.request.outputs[i], outcome.values[i]});
  TENON_RETURN_IF_ERROR(WriteSinks(sinks));
  TENON_ASSIGN_OR_RETURN(outcome.comparisons, CompareAll(outcome.request, outcome.values, options));
  if (invocation.json()) {
    WriteJson(outcome, invocation.doc);
  } else {
    invocation.text = options.story ? Story(outcome, options, invocation.style)
                                    : ResultText(outcome, options, invocation.style);
  }
  AddPasses(*outcome.executable, invocation);
  TENON_RETURN_IF_ERROR(AddRunReports(*outcome.executable, recorder, invocation));
  return Verdict(outcome.comparisons);
}

}  // namespace tenon::cli
