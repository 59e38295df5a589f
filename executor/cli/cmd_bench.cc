// graph_run bench: warm up, time, statistics.
#include <sys/resource.h>

#include <barrier>
#include <chrono>
#include <thread>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "executor/cli/feeds.h"
#include "executor/cli/pass_report.h"
#include "executor/cli/statistics.h"
#include "executor/cli/workbench.h"
#include "graph/status_macros.h"

namespace tenon::cli {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kDefaultSeconds = 2;
constexpr int64_t kDefaultWarmup = 3;
constexpr int64_t kMaxSamples = int64_t{1}
                                << 20;  // per thread: their memory is there before the clock starts

double Micros(Clock::duration d) { return std::chrono::duration<double, std::micro>(d).count(); }

struct Timing {
  double init_ms = 0;   // process state to a prepared executable: devices, load, optimize, place
  double first_ms = 0;  // the first run, plan included
  double wall_s = 0;    // of the timed part
  std::vector<double> samples_us;
  double allocations_per_run = -1;  // nobody counts
};

// When to stop: after so many runs of one thread, or so much time.
struct Budget {
  int64_t runs = kMaxSamples;
  double seconds = HUGE_VAL;
};

Budget BudgetFrom(const Options& options) {
  Budget budget;
  if (options.runs > 0)
    budget.runs =
        std::min((options.runs + options.concurrency - 1) / options.concurrency, kMaxSamples);
  if (options.seconds > 0) budget.seconds = options.seconds;
  if (options.runs <= 0 && options.seconds <= 0) budget.seconds = kDefaultSeconds;
  return budget;
}

class Timer {
 public:
  Timer(Session& session, Executable* executable, const std::vector<Tensor>& feeds)
      : session_(session), executable_(executable), feeds_(feeds) {}

  absl::Status Warm(int64_t runs) {
    for (int64_t i = 0; i < runs; ++i)
      TENON_RETURN_IF_ERROR(session_.Run(executable_, feeds_).status());
    return absl::OkStatus();
  }

  // All threads start together; the allocations of that time are theirs.
  absl::Status Measure(const Budget& budget, int threads, AllocationCounter allocations,
                       Timing& timing) {
    std::vector<std::vector<double>> samples(threads);
    std::vector<absl::Status> statuses(threads);
    for (auto& s : samples) s.reserve(static_cast<size_t>(budget.runs));
    std::barrier line(threads);
    std::vector<std::thread> others;
    for (int t = 1; t < threads; ++t) {
      others.emplace_back([&, t] {
        line.arrive_and_wait();
        statuses[t] = Loop(budget, samples[t]);
        line.arrive_and_wait();
      });
    }
    const int64_t before = allocations == nullptr ? -1 : allocations(true);
    line.arrive_and_wait();
    const Clock::time_point start = Clock::now();
    statuses[0] = Loop(budget, samples[0]);
    line.arrive_and_wait();
    timing.wall_s = Micros(Clock::now() - start) / 1e6;
    const int64_t after = allocations == nullptr ? -1 : allocations(false);
    for (std::thread& thread : others) thread.join();
    for (const absl::Status& status : statuses) TENON_RETURN_IF_ERROR(status);
    for (const auto& s : samples)
      timing.samples_us.insert(timing.samples_us.end(), s.begin(), s.end());
    if (before >= 0)
      timing.allocations_per_run =
          static_cast<double>(after - before) / static_cast<double>(timing.samples_us.size());
    return absl::OkStatus();
  }

 private:
  absl::Status Loop(const Budget& budget, std::vector<double>& samples) {
    const Clock::time_point end =
        Clock::now() + std::chrono::duration_cast<Clock::duration>(
                           std::chrono::duration<double>(std::min(budget.seconds, 1e9)));
    for (int64_t i = 0; i < budget.runs; ++i) {
      const Clock::time_point start = Clock::now();
      TENON_RETURN_IF_ERROR(session_.Run(executable_, feeds_).status());
      const Clock::time_point stop = Clock::now();
      samples.push_back(Micros(stop - start));
      if (stop >= end) break;
    }
    return absl::OkStatus();
  }

  Session& session_;
  Executable* executable_;
  const std::vector<Tensor>& feeds_;
};

double PeakRssMb() {
  rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

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
  doc.Set("allocations_per_run",
          timing.allocations_per_run < 0 ? Json() : Json(timing.allocations_per_run));
  doc.Set("runs_per_s", static_cast<double>(s.count) / timing.wall_s);
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
                  absl::StrFormat("%.1f runs/s", static_cast<double>(s.count) / timing.wall_s),
                  "\n");
  absl::StrAppend(&text, style.Dim("start   "), "init ", Millis(timing.init_ms), ", first run ",
                  Millis(timing.first_ms), "\n");
  absl::StrAppend(&text, style.Dim("memory  "), "peak ", absl::StrFormat("%.1f MB", PeakRssMb()),
                  ", weights ", Bytes(memory.weights_bytes), ", arena ", Bytes(memory.arena_bytes),
                  " (at least ", Bytes(memory.arena_lower_bound_bytes), ")\n");
  if (timing.allocations_per_run >= 0)
    absl::StrAppend(&text, style.Dim("heap    "),
                    absl::StrFormat("%.2f allocations a run", timing.allocations_per_run), "\n");
  return text;
}

}  // namespace

absl::Status BenchCommand(Invocation& invocation) {
  const Options& options = invocation.options;
  const Clock::time_point start = Clock::now();
  TENON_ASSIGN_OR_RETURN(Workbench bench, OpenWorkbench(options));
  TENON_ASSIGN_OR_RETURN(const RunRequest request, ReadRequest(bench.graph(), options));
  TENON_ASSIGN_OR_RETURN(Executable * executable,
                         PrepareExecutable(bench, options, request.feed_names, request.fetches));
  Timing timing;
  timing.init_ms = Micros(Clock::now() - start) / 1000;
  Timer timer(*bench.session, executable, request.feeds);
  const Clock::time_point first = Clock::now();
  TENON_RETURN_IF_ERROR(timer.Warm(1));
  timing.first_ms = Micros(Clock::now() - first) / 1000;
  TENON_RETURN_IF_ERROR(timer.Warm(options.warmup >= 0 ? options.warmup : kDefaultWarmup));
  TENON_RETURN_IF_ERROR(
      timer.Measure(BudgetFrom(options), options.concurrency, invocation.allocations, timing));
  const RunStatistics statistics = Summarize(timing.samples_us);
  if (invocation.json()) {
    WriteJson(timing, statistics, *executable, invocation.doc);
    return absl::OkStatus();
  }
  invocation.text = BenchText(timing, statistics, *executable, invocation.style);
  if (options.time_passes)
    absl::StrAppend(&invocation.text, "\n",
                    PassTable(OptimizerReport(*executable), invocation.style));
  return absl::OkStatus();
}

}  // namespace tenon::cli
