// graph_run bench: warms up, times runs and prints statistics, of one configuration or of two in
// turns.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <optional>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "executor/cli/bench/accuracy.h"
#include "executor/cli/bench/bench_timing.h"
#include "executor/cli/bench/compare.h"
#include "executor/cli/faults/exit_code.h"
#include "executor/cli/faults/interrupt.h"
#include "executor/cli/model/feeds.h"
#include "executor/cli/model/workbench.h"
#include "executor/cli/options/command.h"
#include "executor/cli/options/flags.h"
#include "executor/cli/options/run_flags.h"
#include "executor/cli/options/ticker.h"
#include "executor/cli/passes/pass_report.h"
#include "executor/cli/reports/page.h"
#include "executor/cli/reports/run_reports.h"
#include "executor/values/text.h"
#include "graph/base/status_macros.h"

namespace tenon::cli {
namespace {

using Clock = std::chrono::steady_clock;

// A signal gives a round, which makes sessions anew, so long to end.
constexpr double kSecondsOfARound = 60;
constexpr double kDefaultSeconds = 2;
// Limits of the runs that are recorded for --op-table.
constexpr double kRecordedSeconds = 1;
constexpr size_t kMostRecorded = 1000;
// Runs among which the page shows the one of median length.
constexpr size_t kMostTraced = 25;
constexpr int64_t kDefaultWarmup = 3;
// Rounds of --ab. Each has new sessions, since the place of their memory makes runs 1 % longer or
// shorter, however often one pair is timed. Twelve ratios give an interval by ranks, the 3rd to the
// 10th, without any assumption on their distribution.
constexpr int64_t kMostRounds = 12;
// A smaller difference is of no use, whatever the interval says.
constexpr double kLeastDifference = 0.01;

double MillisSince(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

struct BenchFlags : TimedFlags {
  std::vector<std::string> ab;  // flags of the configurations: those of b, or those of a and b

  void Declare(Declarer& d);
  // Declares the flags in which two configurations may differ.
  void DeclareConfiguration(Declarer& d);
};

void BenchFlags::Declare(Declarer& d) {
  DeclareFeeds(d);
  DeclareOutputs(d);
  DeclareSignature(d);
  DeclareInit(d);
  DeclareFileIo(d);
  DeclareCompiling(d);
  DeclareSchedule(d);
  DeclareRepetition(
      d, "stop after so long, or 2^20 runs a thread (default 2, unless --runs is given)");
  DeclareSeed(d);
  DeclareTimeout(d);
  DeclareRecords(d);
  d.Repeat(
      "--ab", ab, "'FLAGS'",
      "compare, in turns: the command line as it stands (a) with the same and these flags (b); "
      "given twice, the first are a's; such as --ab '--opt-level 0'");
  DeclareMemory(d);
  DeclareLimits(d);
  DeclareOutput(d);
}

void BenchFlags::DeclareConfiguration(Declarer& d) {
  DeclarePlacement(d);
  DeclareSchedule(d);
  DeclareLevel(d);
  DeclarePasses(d);
  DeclareRewriting(d);
}

struct Configurations {
  BenchFlags a;
  std::optional<BenchFlags> b;
};

absl::StatusOr<BenchFlags> WithFlags(BenchFlags flags, const std::string& text) {
  TENON_RETURN_IF_ERROR(SetFlags(text, [&](Declarer& d) { flags.DeclareConfiguration(d); }));
  return flags;
}

absl::StatusOr<Configurations> ConfigurationsOf(const BenchFlags& flags) {
  Configurations configurations{flags, std::nullopt};
  const std::vector<std::string>& ab = flags.ab;
  if (ab.empty()) return configurations;
  if (ab.size() > 2) {
    return UsageError(absl::StrCat("--ab is given ", ab.size(),
                                   " times; it compares two configurations: once it is b's flags, "
                                   "twice a's and b's"));
  }
  const int64_t fewest = kFewestForInterval * flags.concurrency;
  if (flags.runs > 0 && flags.runs < fewest) {
    return UsageError(absl::StrCat("--runs ", flags.runs, " is too few for --ab, which needs ",
                                   fewest, " for an interval"));
  }
  if (ab.size() == 2) {
    TENON_ASSIGN_OR_RETURN(configurations.a, WithFlags(flags, ab.front()));
  }
  TENON_ASSIGN_OR_RETURN(configurations.b, WithFlags(flags, ab.back()));
  TENON_RETURN_IF_ERROR(SessionOptionsFrom(*configurations.b).status());
  return configurations;
}

// Times the first run, then runs `more` times without timing.
absl::Status WarmUp(Session& session, Timing& timing, const std::vector<Tensor>& feeds,
                    int64_t more) {
  const Clock::time_point first = Clock::now();
  TENON_RETURN_IF_ERROR(Warm(session, timing.executable, feeds, 1));
  timing.first_ms = MillisSince(first);
  return Warm(session, timing.executable, feeds, more);
}

std::string_view FasterOf(const MedianEstimate& ratio) {
  if (ratio.ci95_lo > 1 && ratio.median >= 1 + kLeastDifference) return "a";
  if (ratio.ci95_hi < 1 && ratio.median <= 1 / (1 + kLeastDifference)) return "b";
  return "no significant difference";
}

// One of two configurations.
struct Side {
  const BenchFlags& flags;
  std::string difference;  // the text of --ab
  std::unique_ptr<Session> session = nullptr;
  Timing timing = {};  // the start of the last session, and the runs of all sessions
};

absl::Status StartAnew(Side& side, const Workbench& bench, const RunRequest& request) {
  const Clock::time_point start = Clock::now();
  TENON_ASSIGN_OR_RETURN(side.session, OpenOtherSession(bench, side.flags));
  TENON_RETURN_IF_ERROR(InitializeState(*side.session, bench, side.flags, request.fetches));
  TENON_ASSIGN_OR_RETURN(side.timing.executable,
                         side.session->Prepare(request.feed_names, request.fetches));
  side.timing.init_ms = MillisSince(start);
  side.timing.threads = side.session->threads();
  return WarmUp(*side.session, side.timing, request.feeds, std::max<int64_t>(side.flags.warmup, 0));
}

// Keeps memory, so that sessions that are made next lie in another place. Sessions of different
// sizes would otherwise come to lie in the same places again and again.
class Spacers {
 public:
  void Add() {
    for (const size_t size : {size_t{1} << 14, size_t{1} << 17, size_t{1} << 20})
      kept_.push_back(std::make_unique<char[]>(size + kept_.size() * 64));
  }

 private:
  std::vector<std::unique_ptr<char[]>> kept_;
};

Contender ContenderOf(Side& side) {
  return {*side.session, side.timing.executable, side.timing.runs};
}

// Returns the ratio of each round, b's time by a's. `repetition` is for all rounds together.
absl::StatusOr<std::vector<double>> Rounds(Side& a, Side& b, const Workbench& bench,
                                           const RunRequest& request, Repetition repetition,
                                           AllocationCounter allocations) {
  const int64_t most = std::min<int64_t>(kMostRounds, repetition.runs / repetition.threads);
  const double most_ms = 4e3 * repetition.seconds;  // twice the time that the runs are given
  repetition.runs /= most;
  repetition.seconds /= static_cast<double>(most);
  const Clock::time_point start = Clock::now();
  Spacers spacers;
  std::vector<double> ratios;
  std::atomic<int64_t> rounds = 0;
  const Ticker ticker(a.flags, [&rounds, most](double) {
    return absl::StrCat("comparing ",
                        BarText(static_cast<double>(rounds) / static_cast<double>(most)), ", ",
                        Plural(rounds, "round"));
  });
  const StopOnInterrupt stop(kSecondsOfARound);
  for (int64_t round = 0; round < most; ++round) {
    const bool too_long = repetition.seconds > 0 && MillisSince(start) > most_ms;
    if (too_long && round >= kFewestForInterval) break;
    // So that the new sessions can change places.
    for (Side* side : {&a, &b}) side->session.reset();
    spacers.Add();
    // They take turns in being made first, so that each gets memory that the other had, and in
    // running first.
    const bool a_first = round % 2 == 0;
    Side &first = a_first ? a : b, &second = a_first ? b : a;
    for (Side* side : {&first, &second}) TENON_RETURN_IF_ERROR(StartAnew(*side, bench, request));
    // Those of a were reported when its executable was prepared.
    if (round == 0) TENON_RETURN_IF_ERROR(ReportFailedPasses(*b.timing.executable, b.flags));
    TENON_ASSIGN_OR_RETURN(const double ratio, RunInTurns(ContenderOf(first), ContenderOf(second),
                                                          request.feeds, repetition, allocations));
    ratios.push_back(a_first ? ratio : 1 / ratio);
    ++rounds;
    if (Interrupted()) break;
  }
  return ratios;
}

// How the answers to the feeds differ, fetch by fetch.
absl::StatusOr<std::vector<FetchDifference>> DifferencesOf(Side& a, Side& b,
                                                           const RunRequest& request) {
  TENON_ASSIGN_OR_RETURN(const std::vector<Tensor> of_a,
                         a.session->Run(a.timing.executable, request.feeds));
  TENON_ASSIGN_OR_RETURN(const std::vector<Tensor> of_b,
                         b.session->Run(b.timing.executable, request.feeds));
  std::vector<FetchDifference> differences;
  for (size_t i = 0; i < request.fetches.size(); ++i)
    differences.push_back(DifferenceOf(request.fetches[i], of_a[i], of_b[i]));
  return differences;
}

std::string ComparisonText(const Side& a, const Side& b, const MedianEstimate& ratio,
                           int64_t rounds, const Style& style) {
  const auto line = [&](std::string_view name, const Side& side) {
    return absl::StrCat(
        style.Bold(name), "  ", SpeedText(Summarize(side.timing.runs.run_us), style),
        style.Dim(side.difference.empty() ? "" : absl::StrCat("  with ", side.difference)), "\n");
  };
  const std::string_view faster = FasterOf(ratio);
  return absl::StrCat(
      line("a", a), line("b", b), "\n",
      absl::StrFormat("b takes %.3f times as long as a, 95 %% interval %.3f to %.3f, %s\n",
                      ratio.median, ratio.ci95_lo, ratio.ci95_hi, Plural(rounds, "round")),
      style.Bold(faster.size() == 1 ? absl::StrCat(faster, " is faster") : faster), "\n");
}

void WriteComparison(const Side& a, const Side& b, const MedianEstimate& ratio, int64_t rounds,
                     Json& doc) {
  for (const Side* side : {&a, &b}) {
    Json json = Json::Object();
    json.Set("flags", side->difference);
    WriteTiming(side->timing, json);
    doc.Set(side == &a ? "a" : "b", std::move(json));
  }
  Json interval = Json::Array();
  interval.Push(ratio.ci95_lo).Push(ratio.ci95_hi);
  doc.Set("ratio", ratio.median)
      .Set("ratio_ci95", std::move(interval))
      .Set("rounds", rounds)
      .Set("verdict", FasterOf(ratio));
  WriteTiming(a.timing, doc);
}

absl::Status Compare(const Workbench& bench, const Configurations& configurations,
                     const RunRequest& request, const BenchFlags& flags, Invocation& invocation) {
  Side a{configurations.a, flags.ab.size() == 2 ? flags.ab.front() : ""};
  Side b{*configurations.b, flags.ab.back()};
  TENON_ASSIGN_OR_RETURN(
      std::vector<double> ratios,
      Rounds(a, b, bench, request, RepetitionFrom(flags, {.seconds = kDefaultSeconds}),
             invocation.allocations));
  const auto rounds = std::ssize(ratios);
  const MedianEstimate ratio = EstimateMedian(std::move(ratios));
  TENON_ASSIGN_OR_RETURN(const std::vector<FetchDifference> differences,
                         DifferencesOf(a, b, request));
  if (invocation.json()) {
    WriteComparison(a, b, ratio, rounds, invocation.doc);
    invocation.doc.Set("differences", DifferencesJson(differences));
  } else {
    invocation.text = ComparisonText(a, b, ratio, rounds, invocation.style) +
                      DifferencesText(differences, invocation.style);
  }
  return absl::OkStatus();
}

void WarnIfNoisy(const RunStatistics& s, const BenchFlags& flags) {
  if (const std::string why = NoiseOf(s); !why.empty())
    Warn(flags, absl::StrCat("noisy: ", why,
                             "; let the machine do nothing else, and try --seconds 10 or "
                             "--pin=cores"));
}

absl::Status TimeAlone(Session& session, Timing& timing, const RunRequest& request,
                       const BenchFlags& flags, Invocation& invocation) {
  TENON_RETURN_IF_ERROR(
      WarmUp(session, timing, request.feeds, flags.warmup >= 0 ? flags.warmup : kDefaultWarmup));
  // Where a run lasts long, the runs before it are not to be lost.
  const StopOnInterrupt stop(StopOnInterrupt::kSeconds + 2 * timing.first_ms / 1000);
  std::atomic<int64_t> finished = 0;
  Repetition repetition = RepetitionFrom(flags, {.seconds = kDefaultSeconds});
  repetition.finished = &finished;
  {
    const Ticker ticker(flags, [&](double seconds) {
      return RepetitionText("timing", repetition, seconds, finished);
    });
    TENON_ASSIGN_OR_RETURN(timing.runs, Repeat(session, timing.executable, request.feeds,
                                               repetition, invocation.allocations));
  }
  WarnIfNoisy(Summarize(timing.runs.run_us), flags);
  if (invocation.json()) {
    WriteTiming(timing, invocation.doc);
  } else {
    invocation.text = TimingText(timing, invocation.style);
  }
  return absl::OkStatus();
}

// Records at most so many runs of each of --concurrency threads, and as many as a second and the
// recorder's room allow.
absl::Status RecordRuns(Session& session, Executable* executable, const RunRequest& request,
                        size_t most, int threads, RunWatch& watch) {
  if (!watch.wanted()) return absl::OkStatus();
  RunRecorder* const recorder = watch.Begin();
  const auto record = [&](size_t runs) {
    return Repeat(session, executable, request.feeds,
                  {.runs = static_cast<int64_t>(runs),
                   .seconds = kRecordedSeconds,
                   .threads = threads,
                   .recorder = recorder},
                  nullptr)
        .status();
  };
  absl::Status run = record(threads);
  // The first runs show how many steps a run takes, and so how many runs there is room for.
  const size_t steps = std::max<size_t>((RunRecorder::kMaxSteps - recorder->Room()) / threads, 1);
  const size_t more = std::min((most - 1) * threads, recorder->Room() / steps);
  if (run.ok() && more > 0) run = record(more);
  watch.End();
  return run;
}

// Comes after the timed runs, which recording would slow down. The op table gets runs of its own:
// the streams' callbacks of a trace would lengthen its steps.
absl::Status AddReports(const Workbench& bench, Executable* executable, const RunRequest& request,
                        const BenchFlags& flags, Page& page, Invocation& invocation) {
  Session& session = *bench.session;
  BenchFlags trace_only = flags, table_only = flags;
  trace_only.op_table.clear();
  table_only.traces.clear();
  table_only.memory = false;
  RunWatch traced(trace_only, page.wanted());
  TENON_RETURN_IF_ERROR(RecordRuns(session, executable, request,
                                   trace_only.traces.empty() ? kMostTraced : 1, flags.concurrency,
                                   traced));
  traced.SetBefore(BeforeRuns(*executable, bench.load_ms, request));
  page.AddTimeline(traced);
  TENON_RETURN_IF_ERROR(AddRunReports(*executable, traced, trace_only, invocation));
  if (page.wanted() && table_only.op_table.empty()) {
    RecordFlags for_page;
    for_page.op_table = "text";
    RunWatch timed(for_page);
    TENON_RETURN_IF_ERROR(RecordRuns(session, executable, request, kMostRecorded, 1, timed));
    page.AddTimes(timed);
    return absl::OkStatus();
  }
  RunWatch timed(table_only);
  TENON_RETURN_IF_ERROR(RecordRuns(session, executable, request, kMostRecorded, 1, timed));
  page.AddTimes(timed);
  return AddRunReports(*executable, timed, table_only, invocation);
}

void AddMadeUp(const std::vector<std::string>& inputs, Invocation& invocation) {
  if (inputs.empty()) return;
  if (invocation.json()) {
    invocation.doc.Set("made_up_inputs", Json::ArrayOf(inputs));
    return;
  }
  absl::StrAppend(&invocation.text, invocation.style.Dim("inputs  "), "none were given; made up:");
  for (const std::string& input : inputs)
    absl::StrAppend(&invocation.text, " --input ", ShellWord(input));
  invocation.text += "\n";
}

// What the page tells of the timed runs.
Json BenchJson(const Timing& timing) {
  constexpr size_t kMostShown = 4000;
  Json json = Json::Object(), runs = Json::Array();
  WriteTiming(timing, json);
  const std::vector<double>& us = timing.runs.run_us;
  // Evenly spread over all runs, so that drifts show.
  const size_t every = (us.size() + kMostShown - 1) / kMostShown;
  for (size_t i = 0; i < us.size(); i += every) runs.Push(us[i]);
  return std::move(json.Set("run_us", std::move(runs)));
}

struct BenchTask {
  const Workbench& bench;
  const Configurations& configurations;
  const RunRequest& request;
  const BenchFlags& flags;
};

absl::Status TimeAndTell(const BenchTask& task, Timing& timing, Page& page,
                         Invocation& invocation) {
  const auto& [bench, configurations, request, flags] = task;
  const absl::Status ran = configurations.b
                               ? Compare(bench, configurations, request, flags, invocation)
                               : TimeAlone(*bench.session, timing, request, flags, invocation);
  TENON_RETURN_IF_ERROR(HintAtInit(bench, ran));
  if (page.wanted() && !configurations.b) page.Set("bench", BenchJson(timing));
  AddMadeUp(request.made_up, invocation);
  AddPasses(*timing.executable, flags, invocation);
  AddVerified(bench.watchers->verifier(), flags, invocation);
  TENON_RETURN_IF_ERROR(AddReports(bench, timing.executable, request, flags, page, invocation));
  return EndOfInterrupted();
}

absl::Status Bench(const BenchFlags& given, Invocation& invocation) {
  BenchFlags flags = given;
  flags.keep_costs = !flags.op_table.empty() || !flags.report.empty();
  TENON_ASSIGN_OR_RETURN(const Configurations configurations, ConfigurationsOf(flags));
  const Clock::time_point start = Clock::now();
  TENON_ASSIGN_OR_RETURN(Workbench bench, OpenWorkbench(configurations.a));
  TENON_ASSIGN_OR_RETURN(const RunRequest request, ReadRequestOrMakeUp(bench.names(), flags));
  TENON_RETURN_IF_ERROR(InitializeState(bench, flags, request.fetches));
  Timing timing{.model = flags.paths.front()};
  TENON_ASSIGN_OR_RETURN(timing.executable, PrepareExecutable(bench, configurations.a,
                                                              request.feed_names, request.fetches));
  timing.init_ms = MillisSince(start);
  timing.threads = bench.session->threads();
  invocation.doc.Set("model", flags.paths.front());
  Page page(flags);
  const absl::Status told =
      TimeAndTell({bench, configurations, request, flags}, timing, page, invocation);
  page.AddPlan(*timing.executable, bench.load_ms);
  return page.Write(bench, *timing.executable, &request, told);
}

}  // namespace

extern const Command kBenchCommand = {
    .name = "bench",
    .arguments = "MODEL",
    .fewest = 1,
    .most = 1,
    .what =
        "Warm up, time many runs, print statistics with a confidence interval; or compare two "
        "configurations.",
    .examples = {"graph_run bench tests/golden/models/mlp/graph.pbtxt --input x=4x20xf32=ones "
                 "--seconds 1 --threads 1 --json",
                 "graph_run bench tests/golden/models/mlp/graph.pbtxt --input x=4x20xf32=ones "
                 "--ab=--opt-level=0"},
    .start = Start<BenchFlags, Bench>,
};

}  // namespace tenon::cli
