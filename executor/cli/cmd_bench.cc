// graph_run bench: warm up, time, statistics.
#include <chrono>
#include <optional>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "executor/cli/feeds.h"
#include "executor/cli/pass_report.h"
#include "executor/cli/plan_report.h"
#include "executor/cli/repeat.h"
#include "executor/cli/run_reports.h"
#include "executor/cli/statistics.h"
#include "executor/cli/workbench.h"
#include "graph/status_macros.h"

namespace tenon::cli {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kDefaultSeconds = 2;
constexpr int64_t kDefaultWarmup = 3;

double MillisSince(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

struct Timing {
  double init_ms = 0;   // process state to a prepared executable: devices, load, optimize, place
  double first_ms = 0;  // the first run, plan included
  Repeated runs;

  std::optional<double> allocations_per_run() const {  // if somebody counts
    if (runs.allocations < 0) return std::nullopt;
    return static_cast<double>(runs.allocations) / static_cast<double>(runs.run_us.size());
  }
};

void WriteJson(const Timing& timing, const RunStatistics& s, const Executable& e, Json& doc) {
  const MemoryReport memory = MemoryOf(e);
  Json interval = Json::Array();
  interval.Push(s.ci95_lo).Push(s.ci95_hi);
  doc.Set("init_ms", timing.init_ms).Set("first_ms", timing.first_ms).Set("count", s.count);
  doc.Set("min_us", s.min)
      .Set("p50_us", s.p50)
      .Set("p90_us", s.p90)
      .Set("p99_us", s.p99)
      .Set("max_us", s.max);
  doc.Set("mean_us", s.mean)
      .Set("std_us", s.stddev)
      .Set("ci95_us", std::move(interval))
      .Set("peak_rss_mb", PeakRssMb());
  doc.Set("arena_bytes", memory.arena_bytes)
      .Set("arena_lower_bound_bytes", memory.arena_lower_bound_bytes)
      .Set("weights_bytes", memory.weights_bytes);
  const std::optional<double> allocations = timing.allocations_per_run();
  doc.Set("allocations_per_run", allocations ? Json(*allocations) : Json());
  doc.Set("runs_per_s", static_cast<double>(s.count) / timing.runs.wall_s)
      .Set("plan_cache", PlanCacheJson(e));
}

std::string Us(double us) {
  return absl::StrFormat(us < 100 ? "%.2f us" : us < 1e4 ? "%.1f us" : "%.0f us", us);
}

std::string BenchText(const Timing& timing, const RunStatistics& s, const Executable& e,
                      const Style& style) {
  const MemoryReport memory = MemoryOf(e);
  std::string text = absl::StrCat(style.Bold(Us(s.mean)), " a run, 95 % interval ", Us(s.ci95_lo),
                                  " to ", Us(s.ci95_hi), ", ", Plural(s.count, "run"), "\n\n");
  absl::StrAppend(&text, style.Dim("times   "), "min ", Us(s.min), "  p50 ", Us(s.p50), "  p90 ",
                  Us(s.p90), "  p99 ", Us(s.p99), "  max ", Us(s.max), "  std ", Us(s.stddev),
                  "\n");
  absl::StrAppend(&text, style.Dim("rate    "),
                  absl::StrFormat("%.1f runs/s", static_cast<double>(s.count) / timing.runs.wall_s),
                  "\n");
  absl::StrAppend(&text, style.Dim("start   "), "init ", Millis(timing.init_ms), ", first run ",
                  Millis(timing.first_ms), "\n");
  absl::StrAppend(&text, style.Dim("memory  "), "peak ", absl::StrFormat("%.1f MB", PeakRssMb()),
                  ", weights ", Bytes(memory.weights_bytes), ", arena ", Bytes(memory.arena_bytes),
                  " (at least ", Bytes(memory.arena_lower_bound_bytes), ")\n");
  absl::StrAppend(&text, style.Dim("plans   "), PlanCacheText(e), "\n");
  if (const std::optional<double> allocations = timing.allocations_per_run())
    absl::StrAppend(&text, style.Dim("heap    "),
                    absl::StrFormat("%.2f allocations a run", *allocations), "\n");
  return text;
}

}  // namespace

absl::Status BenchCommand(Invocation& invocation) {
  const Options& options = invocation.options;
  const Clock::time_point start = Clock::now();
  TENON_ASSIGN_OR_RETURN(Workbench bench, OpenWorkbench(options));
  TENON_ASSIGN_OR_RETURN(const RunRequest request, ReadRequest(bench.names(), options));
  TENON_RETURN_IF_ERROR(InitializeState(bench, options));
  TENON_ASSIGN_OR_RETURN(Executable * executable,
                         PrepareExecutable(bench, options, request.feed_names, request.fetches));
  Timing timing;
  timing.init_ms = MillisSince(start);
  const Clock::time_point first = Clock::now();
  TENON_RETURN_IF_ERROR(Warm(*bench.session, executable, request.feeds, 1));
  timing.first_ms = MillisSince(first);
  TENON_RETURN_IF_ERROR(Warm(*bench.session, executable, request.feeds,
                             options.warmup >= 0 ? options.warmup : kDefaultWarmup));
  TENON_ASSIGN_OR_RETURN(timing.runs, Repeat(*bench.session, executable, request.feeds,
                                             RepetitionFrom(options, {.seconds = kDefaultSeconds}),
                                             invocation.allocations));
  const RunStatistics statistics = Summarize(timing.runs.run_us);
  if (invocation.json()) {
    WriteJson(timing, statistics, *executable, invocation.doc);
  } else {
    invocation.text = BenchText(timing, statistics, *executable, invocation.style);
  }
  AddPasses(*executable, invocation);
  // One more run: to be watched would slow down those that are timed.
  RunWatch watch(options);
  if (watch.wanted()) {
    const absl::Status run = bench.session->Run(executable, request.feeds, watch.Begin()).status();
    watch.End();
    TENON_RETURN_IF_ERROR(run);
  }
  return AddRunReports(*executable, watch, invocation);
}

}  // namespace tenon::cli
