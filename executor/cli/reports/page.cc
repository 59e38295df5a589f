#include "executor/cli/reports/page.h"

#include <algorithm>
#include <initializer_list>
#include <optional>
#include <utility>
#include <vector>

#include "executor/cli/passes/html_report.h"
#include "executor/cli/reports/machine.h"
#include "executor/cli/reports/memory_map.h"
#include "executor/cli/reports/run_reports.h"
#include "executor/cli/reports/timeline.h"

namespace tenon::cli {

namespace {

// Some keys of what AddOpTable says of the runs.
Json Tables(const RunWatch& watch, std::initializer_list<std::string_view> keys) {
  Invocation tables;
  tables.output.json = true;
  AddOpTable(watch.record(), "text", tables);
  Json chosen = Json::Object();
  for (const std::string_view key : keys) {
    if (std::optional<Json> value = tables.doc.Find(key)) chosen.Set(key, *std::move(value));
  }
  return chosen;
}

// The names of the results, and the tensors of the graph that they are.
Json ResultsJson(const RunRequest& request) {
  Json results = Json::Array();
  for (size_t i = 0; i < request.outputs.size(); ++i) {
    Json result = Json::Object();
    result.Set("name", request.outputs[i].name).Set("tensor", request.fetches[i]);
    results.Push(std::move(result));
  }
  return results;
}

}  // namespace

Page::Page(const CompileFlags& flags) : flags_(flags) {}

void Page::Set(std::string_view key, Json value) {
  if (wanted()) more_.Set(key, std::move(value));
}

void Page::AddPlan(const Executable& executable, double load_ms) {
  if (!wanted()) return;
  Set("memory", MemoryMapJson(executable));
  const Times times = TimesReport(executable);
  Json stages = Json::Object();
  stages.Set("load", load_ms)
      .Set("optimize", times.optimize)
      .Set("place", times.place)
      .Set("plan", times.plan)
      .Set("first_run", times.first_run);
  Set("times_ms", std::move(stages));
}

void Page::AddTimeline(const RunWatch& watch) {
  if (!wanted() || !watch.wanted()) return;
  Set("timeline", TimelineJson(watch.record()));
  // Of the same recording, whose steps the table of a bench has not measured.
  const std::vector<RunSpan>& runs = watch.record().runs();
  if (std::none_of(runs.begin(), runs.end(), [](const RunSpan& run) { return run.whole; })) return;
  if (std::optional<Json> path = Tables(watch, {"critical_path"}).Find("critical_path"))
    Set("critical_path", *std::move(path));
}

void Page::AddTimes(const RunWatch& watch) {
  if (!wanted() || !watch.wanted() || watch.record().runs().empty()) return;
  Json times = Tables(watch, {"op_table", "nodes", "lanes"});
  const std::vector<RunSpan>& runs = watch.runs();
  times.Set("runs",
            std::count_if(runs.begin(), runs.end(), [](const RunSpan& run) { return run.whole; }));
  Set("times", std::move(times));
}

absl::Status Page::Write(const Workbench& bench, const Executable& executable,
                         const RunRequest* request, absl::Status status) {
  if (!wanted()) return status;
  Json about = Json::Object();
  about.Set("command", CommandLineText()).Set("machine", MachineJson());
  about.Set("threads", bench.session->threads());
  if (!status.ok()) about.Set("status", Json::OfStatus(status));
  Set("about", std::move(about));
  ReportSubject subject{flags_.paths.front(),       bench.graph(),
                        OptimizedGraph(executable), OptimizerReport(executable),
                        *bench.watchers->history(), *bench.watchers->provenance(),
                        PlacementReport(executable)};
  if (request != nullptr) {
    subject.fed = BeforeRuns(executable, 0, *request).fed;
    Set("results", ResultsJson(*request));
  }
  subject.more = std::move(more_);
  status.Update(WriteHtmlReport(flags_.report, std::move(subject)));
  return status;
}

}  // namespace tenon::cli
