#include "executor/cli/bench/bench_timing.h"

#include <optional>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "executor/cli/model/workbench.h"
#include "executor/cli/reports/cluster_report.h"
#include "executor/cli/reports/machine.h"
#include "executor/cli/reports/plan_report.h"
#include "executor/cli/reports/run_reports.h"
#include "executor/cli/reports/staging_report.h"
#include "graph/base/version.h"

namespace tenon::cli {
namespace {

std::optional<double> AllocationsPerRun(const Repeated& runs) {  // nothing if they were not counted
  if (runs.allocations < 0) return std::nullopt;
  return static_cast<double>(runs.allocations) / static_cast<double>(runs.run_us.size());
}

void WriteConditions(const Timing& timing, Json& doc) {
  Json devices = Json::Object();
  for (const auto& [name, count] : NodesPerDevice(*timing.executable)) devices.Set(name, count);
  doc.Set("threads", timing.threads).Set("devices", std::move(devices)).Set("isa", IsaName());
}

// "m.pb, 2 threads, avx512, /device:CPU:0, graph_run 0.1.0"
std::string ConditionsText(const Timing& timing) {
  std::string text =
      absl::StrCat(timing.model, ", ", Plural(timing.threads, "thread"), ", ", IsaName());
  for (const auto& [name, count] : NodesPerDevice(*timing.executable))
    absl::StrAppend(&text, ", ", name);
  return absl::StrCat(text, ", graph_run ", Version());
}

// Four digits or five: "12.34 us", "1234.5 us", "12.34 ms", "1234.5 ms".
std::string TimeText(double us) {
  const bool is_short = us < 1e4;
  const double t = is_short ? us : us / 1e3;
  return absl::StrFormat("%.*f %s", t < 100 ? 2 : 1, t, is_short ? "us" : "ms");
}

}  // namespace

void WriteTiming(const Timing& timing, Json& doc) {
  const Executable& e = *timing.executable;
  const RunStatistics s = Summarize(timing.runs.run_us);
  const MemoryReport memory = MemoryOf(e);
  Json interval = Json::Array(), of_median = Json::Array();
  interval.Push(s.ci95_lo).Push(s.ci95_hi);
  of_median.Push(s.p50_lo).Push(s.p50_hi);
  WriteConditions(timing, doc);
  doc.Set("init_ms", timing.init_ms).Set("first_ms", timing.first_ms).Set("count", s.count);
  doc.Set("min_us", s.min)
      .Set("p50_us", s.p50)
      .Set("p50_ci95_us", std::move(of_median))
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
  const std::optional<double> allocations = AllocationsPerRun(timing.runs);
  doc.Set("allocations_per_run", allocations ? Json(*allocations) : Json());
  const std::string noise = NoiseOf(s);
  doc.Set("noisy", noise.empty() ? Json() : Json(noise));
  doc.Set("runs_per_s", static_cast<double>(s.count) / timing.runs.wall_s)
      .Set("plan_cache", PlanCacheJson(e))
      .Set("host_staging", HostStagingJson(e));
  if (const ClusterSet* const clusters = ClustersOf(e))
    doc.Set("clusters", ClustersJson(*clusters));
}

std::string TimingText(const Timing& timing, const Style& style) {
  const Executable& e = *timing.executable;
  const RunStatistics s = Summarize(timing.runs.run_us);
  const MemoryReport memory = MemoryOf(e);
  std::string text = absl::StrCat(SpeedText(s, style), "\n\n", style.Dim("where   "),
                                  ConditionsText(timing), "\n");
  absl::StrAppend(&text, style.Dim("times   "), "min ", TimeText(s.min), "  mean ",
                  TimeText(s.mean), "  p90 ", TimeText(s.p90), "  p99 ", TimeText(s.p99), "  max ",
                  TimeText(s.max), "  std ", TimeText(s.stddev), "\n");
  absl::StrAppend(&text, style.Dim("rate    "),
                  absl::StrFormat("%.1f runs/s", static_cast<double>(s.count) / timing.runs.wall_s),
                  "\n");
  absl::StrAppend(&text, style.Dim("start   "), "init ", Millis(timing.init_ms), ", first run ",
                  Millis(timing.first_ms), "\n");
  absl::StrAppend(&text, style.Dim("memory  "), "peak ", absl::StrFormat("%.1f MB", PeakRssMb()),
                  ", weights ", Bytes(memory.weights_bytes), ", arena ", Bytes(memory.arena_bytes),
                  " (at least ", Bytes(memory.arena_lower_bound_bytes), ")\n");
  absl::StrAppend(&text, style.Dim("plans   "), PlanCacheText(e), "\n");
  for (const std::string& line : HostStagingLines(e))
    absl::StrAppend(&text, style.Dim("copies  "), line, "\n");
  if (const std::optional<double> allocations = AllocationsPerRun(timing.runs))
    absl::StrAppend(&text, style.Dim("heap    "),
                    absl::StrFormat("%.2f allocations a run", *allocations), "\n");
  return text;
}

std::string NoiseOf(const RunStatistics& s) {
  // Beyond these, a second measurement is likely to tell another story.
  constexpr double kWidestInterval = 0.05, kMostSpread = 1.5;
  if (s.p50 <= 0) return "";
  const double width = (s.p50_hi - s.p50_lo) / s.p50, spread = s.p90 / s.p50;
  if (width > kWidestInterval)
    return absl::StrFormat("the interval of the median is %.0f %% of it wide", 100 * width);
  if (spread > kMostSpread)
    return absl::StrFormat("one run in ten takes %.1f times the median or more", spread);
  return "";
}

std::string SpeedText(const RunStatistics& s, const Style& style) {
  return absl::StrCat(style.Bold(TimeText(s.p50)), " a run (median), 95 % interval ",
                      TimeText(s.p50_lo), " to ", TimeText(s.p50_hi), ", ", Plural(s.count, "run"));
}

}  // namespace tenon::cli
