// graph_run bench: warm up, time, statistics; one configuration, or two in turns.
#include <algorithm>
#include <chrono>
#include <optional>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "executor/cli/bench_timing.h"
#include "executor/cli/compare.h"
#include "executor/cli/exit_code.h"
#include "executor/cli/feeds.h"
#include "executor/cli/flags.h"
#include "executor/cli/pass_report.h"
#include "executor/cli/run_reports.h"
#include "executor/cli/workbench.h"
#include "graph/status_macros.h"

namespace tenon::cli {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kDefaultSeconds = 2;
constexpr int64_t kDefaultWarmup = 3;
// Of --ab: pairs of sessions made anew, since where their memory lies makes runs 1 % longer or
// shorter.
constexpr int64_t kMostRounds = 12;
// Less than this is nobody's gain, whatever the interval says.
constexpr double kLeastDifference = 0.01;

double MillisSince(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

struct Configurations {
  Options a;
  std::optional<Options> b;
};

absl::StatusOr<Configurations> ConfigurationsOf(const Options& options) {
  Configurations configurations{options, std::nullopt};
  const std::vector<std::string>& ab = options.ab;
  if (ab.empty()) return configurations;
  if (ab.size() > 2) {
    return UsageError(absl::StrCat("--ab is given ", ab.size(),
                                   " times; it compares two configurations: once it is b's flags, "
                                   "twice a's and b's"));
  }
  const int64_t fewest = kFewestForInterval * options.concurrency;
  if (options.runs > 0 && options.runs < fewest) {
    return UsageError(absl::StrCat("--runs ", options.runs, " is too few for --ab, which needs ",
                                   fewest, " for an interval"));
  }
  if (ab.size() == 2) {
    TENON_ASSIGN_OR_RETURN(configurations.a, WithFlags(options, ab.front()));
  }
  TENON_ASSIGN_OR_RETURN(configurations.b, WithFlags(options, ab.back()));
  TENON_RETURN_IF_ERROR(SessionOptionsFrom(*configurations.b).status());
  return configurations;
}

// The first run, and `more` that do not count.
absl::Status WarmUp(Session& session, Timing& timing, const std::vector<Tensor>& feeds,
                    int64_t more) {
  const Clock::time_point first = Clock::now();
  TENON_RETURN_IF_ERROR(Warm(session, timing.executable, feeds, 1));
  timing.first_ms = MillisSince(first);
  return Warm(session, timing.executable, feeds, more);
}

std::string_view VerdictOf(const MedianEstimate& ratio) {
  if (ratio.ci95_lo > 1 && ratio.median >= 1 + kLeastDifference) return "a";
  if (ratio.ci95_hi < 1 && ratio.median <= 1 / (1 + kLeastDifference)) return "b";
  return "no significant difference";
}

// One of two configurations.
struct Rival {
  const Options& options;
  std::string flags;  // what --ab says of it
  std::unique_ptr<Session> session = nullptr;
  Timing timing = {};  // the start of the last session, all runs
};

absl::Status StartAnew(Rival& rival, const Workbench& bench, const RunRequest& request) {
  const Clock::time_point start = Clock::now();
  TENON_ASSIGN_OR_RETURN(rival.session, OpenOtherSession(bench, rival.options));
  TENON_RETURN_IF_ERROR(InitializeState(*rival.session, bench, rival.options));
  TENON_ASSIGN_OR_RETURN(rival.timing.executable,
                         rival.session->Prepare(request.feed_names, request.fetches));
  rival.timing.init_ms = MillisSince(start);
  return WarmUp(*rival.session, rival.timing, request.feeds,
                std::max<int64_t>(rival.options.warmup, 0));
}

// Memory that is kept, so that what comes next lies elsewhere.
class Spacers {
 public:
  void Add() {
    for (const size_t size : {size_t{1} << 14, size_t{1} << 17, size_t{1} << 20})
      kept_.push_back(std::make_unique<char[]>(size + kept_.size() * 64));
  }

 private:
  std::vector<std::unique_ptr<char[]>> kept_;
};

// The ratio of each round. `repetition` is for all of them.
absl::StatusOr<std::vector<double>> Rounds(Rival& a, Rival& b, const Workbench& bench,
                                           const RunRequest& request, Repetition repetition,
                                           AllocationCounter allocations) {
  const int64_t most = std::min<int64_t>(kMostRounds, repetition.runs / repetition.threads);
  const double most_ms = 4e3 * repetition.seconds;  // twice what runs are to take
  repetition.runs /= most;
  repetition.seconds /= static_cast<double>(most);
  const Clock::time_point start = Clock::now();
  Spacers spacers;
  std::vector<double> ratios;
  for (int64_t round = 0; round < most; ++round) {
    const bool too_long = repetition.seconds > 0 && MillisSince(start) > most_ms;
    if (too_long && round >= kFewestForInterval) break;
    Rival* const rivals[] = {&a, &b};
    for (Rival* rival : rivals) rival->session.reset();  // so that the next ones change places
    spacers.Add();
    for (int64_t i : {round % 2, 1 - round % 2})
      TENON_RETURN_IF_ERROR(StartAnew(*rivals[i], bench, request));
    if (round == 0) TENON_RETURN_IF_ERROR(ReportFailedPasses(*b.timing.executable, b.options));
    TENON_ASSIGN_OR_RETURN(const double ratio,
                           RunInTurns({*a.session, a.timing.executable, a.timing.runs},
                                      {*b.session, b.timing.executable, b.timing.runs},
                                      request.feeds, repetition, allocations));
    ratios.push_back(ratio);
  }
  return ratios;
}

std::string ComparisonText(const Rival& a, const Rival& b, const MedianEstimate& ratio,
                           int64_t rounds, const Style& style) {
  const auto line = [&](std::string_view name, const Rival& rival) {
    return absl::StrCat(
        style.Bold(name), "  ", SpeedText(Summarize(rival.timing.runs.run_us), style),
        style.Dim(rival.flags.empty() ? "" : absl::StrCat("  with ", rival.flags)), "\n");
  };
  const std::string_view verdict = VerdictOf(ratio);
  return absl::StrCat(
      line("a", a), line("b", b), "\n",
      absl::StrFormat("b takes %.3f times as long as a, 95 %% interval %.3f to %.3f, %s\n",
                      ratio.median, ratio.ci95_lo, ratio.ci95_hi, Plural(rounds, "round")),
      style.Bold(verdict.size() == 1 ? absl::StrCat(verdict, " is faster") : verdict), "\n");
}

void WriteComparison(const Rival& a, const Rival& b, const MedianEstimate& ratio, int64_t rounds,
                     Json& doc) {
  for (const Rival* rival : {&a, &b}) {
    Json json = Json::Object();
    json.Set("flags", rival->flags);
    WriteTiming(rival->timing, json);
    doc.Set(rival == &a ? "a" : "b", std::move(json));
  }
  Json interval = Json::Array();
  interval.Push(ratio.ci95_lo).Push(ratio.ci95_hi);
  doc.Set("ratio", ratio.median)
      .Set("ratio_ci95", std::move(interval))
      .Set("rounds", rounds)
      .Set("verdict", VerdictOf(ratio));
  WriteTiming(a.timing, doc);
}

absl::Status Compare(const Workbench& bench, const Configurations& configurations,
                     const RunRequest& request, Invocation& invocation) {
  const Options& options = invocation.options;
  Rival a{configurations.a, options.ab.size() == 2 ? options.ab.front() : ""};
  Rival b{*configurations.b, options.ab.back()};
  TENON_ASSIGN_OR_RETURN(
      std::vector<double> ratios,
      Rounds(a, b, bench, request, RepetitionFrom(options, {.seconds = kDefaultSeconds}),
             invocation.allocations));
  const auto rounds = std::ssize(ratios);
  const MedianEstimate ratio = EstimateMedian(std::move(ratios));
  if (invocation.json()) {
    WriteComparison(a, b, ratio, rounds, invocation.doc);
  } else {
    invocation.text = ComparisonText(a, b, ratio, rounds, invocation.style);
  }
  return absl::OkStatus();
}

absl::Status TimeAlone(Session& session, Timing& timing, const RunRequest& request,
                       Invocation& invocation) {
  const Options& options = invocation.options;
  TENON_RETURN_IF_ERROR(WarmUp(session, timing, request.feeds,
                               options.warmup >= 0 ? options.warmup : kDefaultWarmup));
  TENON_ASSIGN_OR_RETURN(timing.runs, Repeat(session, timing.executable, request.feeds,
                                             RepetitionFrom(options, {.seconds = kDefaultSeconds}),
                                             invocation.allocations));
  if (invocation.json()) {
    WriteTiming(timing, invocation.doc);
  } else {
    invocation.text = TimingText(timing, invocation.style);
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status BenchCommand(Invocation& invocation) {
  const Options& options = invocation.options;
  TENON_ASSIGN_OR_RETURN(const Configurations configurations, ConfigurationsOf(options));
  const Clock::time_point start = Clock::now();
  TENON_ASSIGN_OR_RETURN(Workbench bench, OpenWorkbench(configurations.a));
  TENON_ASSIGN_OR_RETURN(const RunRequest request, ReadRequest(bench.names(), options));
  TENON_RETURN_IF_ERROR(InitializeState(bench, options));
  Timing timing;
  TENON_ASSIGN_OR_RETURN(timing.executable, PrepareExecutable(bench, configurations.a,
                                                              request.feed_names, request.fetches));
  timing.init_ms = MillisSince(start);
  TENON_RETURN_IF_ERROR(configurations.b ? Compare(bench, configurations, request, invocation)
                                         : TimeAlone(*bench.session, timing, request, invocation));
  AddPasses(*timing.executable, invocation);
  // One more run: to be watched would slow down those that are timed.
  RunWatch watch(options);
  if (watch.wanted()) {
    const absl::Status run =
        bench.session->Run(timing.executable, request.feeds, watch.Begin()).status();
    watch.End();
    TENON_RETURN_IF_ERROR(run);
  }
  return AddRunReports(*timing.executable, watch, invocation);
}

}  // namespace tenon::cli
