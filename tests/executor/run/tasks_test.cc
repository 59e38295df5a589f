// Runs whose nodes run at the same time: what is recorded of them, many threads, errors, and the
// limits of a run.
#include "executor/run/tasks.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <atomic>
#include <limits>
#include <map>
#include <set>
#include <thread>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "executor/api/base/step_stats.h"
#include "executor/cli/reports/run_reports.h"
#include "executor/run/step_watch.h"
#include "executor/session/session.h"
#include "plugin/kernels/run_limits.h"
#include "tests/executor/graph_text_util.h"
#include "tests/support/watchdog.h"

namespace tenon::tasks_test {
namespace {

using ::testing::ElementsAre;
using testing::Floats;
using ::testing::HasSubstr;
using testing::Node;
using testing::Placeholder;

SessionOptions Always(int threads) {
  SessionOptions options;
  options.opt_level = 0;
  options.threads = threads;
  options.inter_op = InterOp::kAlways;
  return options;
}

// The first step that `threads` threads each run waits for those of the others.
class Meeting : public StepWatch {
 public:
  explicit Meeting(int threads) : threads_(threads) {}
  void BeforeStep(Frame&, size_t) override {
    if (come_.load() >= threads_) return;
    come_.fetch_add(1);
    while (come_.load() < threads_) std::this_thread::yield();
  }
  void AfterStep(Frame&, size_t) override {}

 private:
  const int threads_;
  std::atomic<int> come_{0};
};

// `chains` chains of `length` ops on x, side by side.
std::string Chains(int chains, int length) {
  std::string text = Placeholder("x", "dim { size: 4 }");
  for (int c = 0; c < chains; ++c) {
    std::string from = "x";
    for (int i = 0; i < length; ++i) {
      const std::string name = absl::StrCat("n", c, "_", i);
      text += Node(name, i % 2 == 0 ? "Neg" : "Square", {from});
      from = name;
    }
  }
  return text;
}

std::vector<std::string> Ends(int chains, int length) {
  std::vector<std::string> names;
  for (int c = 0; c < chains; ++c) names.push_back(absl::StrCat("n", c, "_", length - 1));
  return names;
}

// What is true of each recorded run without branches and loops.
void ExpectWhole(const RunSpan& run) {
  EXPECT_TRUE(run.whole);
  std::vector<int> times(run.plan->steps.size());
  std::map<int, int64_t> ends;  // by lane
  int64_t last_stop = 0;
  for (const RunSpan::Step& step : run.steps) {
    ++times[step.index];
    EXPECT_LE(step.start_ns, step.stop_ns);
    EXPECT_GE(step.start_ns, run.planned_ns);
    EXPECT_LE(step.stop_ns, run.stop_ns);
    const auto [end, first] = ends.try_emplace(step.lane, 0);
    EXPECT_GE(step.start_ns, end->second) << "lane " << step.lane;
    end->second = step.stop_ns;
    EXPECT_GE(step.stop_ns, last_stop);
    last_stop = step.stop_ns;
  }
  EXPECT_THAT(times, ::testing::Each(1));
}

TEST(RecordedTasks, StepsOfAllThreadsAreThereOnce) {
  const testing::Watchdog watchdog(std::chrono::seconds(60), "recorded tasks");
  Meeting meeting(3);
  SessionOptions options = Always(3);
  options.watch = &meeting;
  const auto session = testing::MakeSession(Chains(6, 5), options);
  Executable* const executable = *session->Prepare({"x"}, Ends(6, 5));
  RunRecorder recorder(false);
  for (int i = 0; i < 10; ++i) {
    const auto out = session->Run(executable, {Floats({1, 2, 3, 4}, {4})}, &recorder);
    ASSERT_TRUE(out.ok()) << out.status();
  }
  ASSERT_EQ(recorder.runs().size(), 10u);
  for (const RunSpan& run : recorder.runs()) ExpectWhole(run);
  // The three threads of the first run, by whom it is said in each report.
  std::set<int> lanes;
  for (const RunSpan::Step& step : recorder.runs()[0].steps) lanes.insert(step.lane);
  EXPECT_THAT(lanes, ElementsAre(0, 1, 2));

  const pb::StepStats stats = api::StepStatsOf(recorder);
  ASSERT_EQ(stats.dev_stats_size(), 1);
  std::set<uint32_t> threads;
  std::map<std::string, int> nodes;
  for (const pb::NodeExecStats& node : stats.dev_stats(0).node_stats()) {
    threads.insert(node.thread_id());
    ++nodes[node.node_name()];
  }
  EXPECT_THAT(threads, ElementsAre(0, 1, 2));
  EXPECT_EQ(nodes.size(), 30u);
  for (const auto& [name, count] : nodes) EXPECT_EQ(count, 10) << name;

  cli::Invocation invocation;
  cli::AddOpTable(recorder, "text", invocation);
  EXPECT_THAT(invocation.text, HasSubstr("of 10 runs"));
}

TEST(RecordedTasks, RunsAtOnceAreRecordedEachByItself) {
  const testing::Watchdog watchdog(std::chrono::seconds(60), "recorded runs at once");
  const auto session = testing::MakeSession(Chains(4, 4), Always(3));
  Executable* const executable = *session->Prepare({"x"}, Ends(4, 4));
  RunRecorder recorder(false);
  std::vector<std::thread> callers;
  for (int t = 0; t < 4; ++t) {
    callers.emplace_back([&] {
      for (int i = 0; i < 20; ++i)
        EXPECT_TRUE(session->Run(executable, {Floats({1, 2, 3, 4}, {4})}, &recorder).ok());
    });
  }
  for (std::thread& caller : callers) caller.join();
  ASSERT_EQ(recorder.runs().size(), 80u);
  for (const RunSpan& run : recorder.runs()) ExpectWhole(run);
  // No thread is in steps of two runs at a time.
  std::map<int, std::vector<std::pair<int64_t, int64_t>>> spans;
  for (const RunSpan& run : recorder.runs()) {
    for (const RunSpan::Step& step : run.steps)
      spans[step.lane].emplace_back(step.start_ns, step.stop_ns);
  }
  for (auto& [lane, of_lane] : spans) {
    std::ranges::sort(of_lane);
    for (size_t i = 1; i < of_lane.size(); ++i)
      EXPECT_GE(of_lane[i].first, of_lane[i - 1].second) << "lane " << lane;
  }
}

// More threads than a frame has lanes.
TEST(Tasks, RunOnManyThreads) {
  const testing::Watchdog watchdog(std::chrono::seconds(120), "many threads");
  const auto session = testing::MakeSession(Chains(100, 3), Always(80));
  Executable* const executable = *session->Prepare({"x"}, Ends(100, 3));
  for (int i = 0; i < 20; ++i) {
    const auto out = session->Run(executable, {Floats({1, 2, 3, 4}, {4})});
    ASSERT_TRUE(out.ok()) << out.status();
    for (const Tensor& t : *out) EXPECT_THAT(testing::Values(t), ElementsAre(-1, -4, -9, -16));
  }
}

// The node that stands first in the graph's order, whichever fails first; those behind it that have
// begun do no harm.
TEST(Tasks, TheFirstErrorInTheOrderOfTheGraphIsReported) {
  const testing::Watchdog watchdog(std::chrono::seconds(60), "errors");
  std::string text = Placeholder("x", "dim { size: 4 }");
  std::vector<std::string> fetches;
  const auto check = [](std::string_view name, std::string_view from) {
    return Node(name, "CheckNumerics", {std::string(from)},
                "attr { key: 'message' value { s: 'bad' } }");
  };
  // The first in the order is at the end of a long chain: it fails last.
  std::string from = "x";
  for (int i = 0; i < 30; ++i) {
    text += Node(absl::StrCat("long", i), "Identity", {from}) +
            Node(absl::StrCat("abs", i), "Abs", {absl::StrCat("long", i)});
    from = absl::StrCat("abs", i);
  }
  text += check("first", from);
  for (int i = 0; i < 10; ++i) {
    text += check(absl::StrCat("later", i), "x");
    fetches.push_back(absl::StrCat("later", i));
  }
  fetches.insert(fetches.begin(), "first");
  SessionOptions serial = Always(1);
  const auto reference = testing::MakeSession(text, serial);
  const Tensor bad = Floats({1, std::numeric_limits<float>::quiet_NaN(), 3, 4}, {4});
  const absl::Status expected = reference->Run({{"x", bad}}, fetches).status();
  EXPECT_FALSE(expected.ok());
  for (const int threads : {2, 5}) {
    const auto session = testing::MakeSession(text, Always(threads));
    Executable* const executable = *session->Prepare({"x"}, fetches);
    for (int i = 0; i < 50; ++i) {
      EXPECT_EQ(session->Run(executable, {bad}).status(), expected);
      // The next run begins afresh.
      EXPECT_TRUE(session->Run(executable, {Floats({1, 2, 3, 4}, {4})}).ok());
    }
  }
}

// A step that finds no memory.
class NoMemory : public StepWatch {
 public:
  explicit NoMemory(std::string node) : node_(std::move(node)) {}
  void BeforeStep(Frame& frame, size_t step) override {
    const Plan& plan = frame.plan();
    if (plan.steps[step].node != kNoNode && plan.graph->name(plan.steps[step].node) == node_)
      throw std::bad_alloc();
  }
  void AfterStep(Frame&, size_t) override {}

 private:
  const std::string node_;
};

// A step without memory has its own place, not that of the task in which it is.
TEST(Tasks, AStepWithoutMemoryFailsAtItsPlace) {
  const testing::Watchdog watchdog(std::chrono::seconds(60), "no memory");
  constexpr int kSize = 128;
  const std::string size = absl::StrCat("dim { size: ", kSize, " } ");
  std::string text = Placeholder("x", size + size);
  for (int i = 0; i < 5; ++i) {
    for (const std::string chain : {"a", "b"}) {
      const std::string from = i == 0 ? "x" : absl::StrCat(chain, i - 1);
      text += Node(absl::StrCat(chain, i), "MatMul", {from, from});
    }
    if (i == 2)
      text += Node("check", "CheckNumerics", {"b2"}, "attr { key: 'message' value { s: 'bad' } }");
  }
  const Tensor bad = Floats(
      std::vector<float>(kSize * kSize, std::numeric_limits<float>::quiet_NaN()), {kSize, kSize});
  for (const std::string node : {"a0", "a4"}) {
    absl::Status expected;
    for (const int threads : {1, 2, 4}) {
      NoMemory watch(node);
      SessionOptions options = Always(threads);
      options.inter_op = InterOp::kOn;
      options.watch = &watch;
      const auto session = testing::MakeSession(text, options);
      Executable* const executable = *session->Prepare({"x"}, {"a4", "b4", "check"});
      for (int i = 0; i < 10; ++i) {
        const absl::Status status = session->Run(executable, {bad}).status();
        EXPECT_FALSE(status.ok());
        if (threads == 1) expected = status;
        EXPECT_EQ(status, expected) << node << " with " << threads << " threads";
      }
      if (threads > 1) EXPECT_THAT(PlanText(*executable), HasSubstr("task 1:"));
    }
    EXPECT_EQ(expected.code(), node == "a0" ? absl::StatusCode::kResourceExhausted
                                            : absl::StatusCode::kInvalidArgument);
  }
}

TEST(Tasks, ALateRunEnds) {
  const testing::Watchdog watchdog(std::chrono::seconds(60), "a deadline");
  const auto session = testing::MakeSession(Chains(6, 20), Always(3));
  Executable* const executable = *session->Prepare({"x"}, Ends(6, 20));
  RunLimits limits;
  limits.deadline = absl::Now() - absl::Seconds(1);
  const auto out =
      session->Run(executable, {Floats({1, 2, 3, 4}, {4})}, /*recorder=*/nullptr, &limits);
  EXPECT_EQ(out.status().code(), absl::StatusCode::kDeadlineExceeded) << out.status();
  EXPECT_TRUE(session->Run(executable, {Floats({1, 2, 3, 4}, {4})}).ok());
}

// A queue, "put" and "get", each beside chains of ops, so that there are tasks.
std::string Queue() {
  const std::string type = testing::Types("component_types", {"DT_FLOAT"});
  return Chains(3, 3) + testing::Op("queue", "FIFOQueueV2", {}, type) +
         testing::Op("put", "QueueEnqueueV2", {"queue", "n0_2"},
                     testing::Types("Tcomponents", {"DT_FLOAT"})) +
         testing::Op("get", "QueueDequeueV2", {"queue"}, type) +
         Node("twice", "AddV2", {"get", "get"});
}

// More runs wait for others than the pool has threads; those for which they wait go on.
TEST(Tasks, RunsThatWaitHoldNoOtherRun) {
  const testing::Watchdog watchdog(std::chrono::seconds(60), "runs that wait for others");
  const auto session = testing::MakeSession(Queue(), Always(3));
  Executable* const get = *session->Prepare({"x"}, {"twice", "n1_2", "n2_2"});
  Executable* const put = *session->Prepare({"x"}, {"^put", "n1_2", "n2_2"});
  constexpr int kRuns = 8, kRounds = 10;
  std::atomic<int> begun{0};
  std::vector<std::thread> callers;
  for (int t = 0; t < kRuns; ++t) {
    callers.emplace_back([&] {
      begun.fetch_add(1);
      for (int i = 0; i < kRounds; ++i) {
        const auto out = session->Run(get, {Floats({1, 2, 3, 4}, {4})});
        EXPECT_TRUE(out.ok()) << out.status();
        if (out.ok()) EXPECT_THAT(testing::Values((*out)[0]), ElementsAre(-2, -8, -18, -32));
      }
    });
  }
  while (begun.load() < kRuns) std::this_thread::yield();
  for (int i = 0; i < kRuns * kRounds; ++i)
    EXPECT_TRUE(session->Run(put, {Floats({1, 2, 3, 4}, {4})}).ok());
  for (std::thread& caller : callers) caller.join();
}

TEST(Tasks, ARunThatWaitsCanBeCancelled) {
  const testing::Watchdog watchdog(std::chrono::seconds(60), "a cancelled run");
  const auto session = testing::MakeSession(Queue(), Always(3));
  Executable* const get = *session->Prepare({"x"}, {"twice", "n1_2", "n2_2"});
  for (int i = 0; i < 5; ++i) {
    std::atomic<bool> cancelled{false};
    RunLimits limits;
    limits.cancelled = &cancelled;
    std::thread other([&] { cancelled.store(true); });
    const auto out = session->Run(get, {Floats({1, 2, 3, 4}, {4})}, /*recorder=*/nullptr, &limits);
    other.join();
    EXPECT_EQ(out.status().code(), absl::StatusCode::kCancelled) << out.status();
  }
}

// No step is waited for and no loop is run through: the tiles of a kernel see it.
TEST(Tasks, ACancelledRunComputesNoTile) {
  for (const int threads : {1, 3}) {
    SessionOptions options = Always(threads);
    if (threads == 1) options.inter_op = InterOp::kOff;
    const auto session = testing::MakeSession(
        Placeholder("x", "dim { size: 1048576 }") + Node("y", "Exp", {"x"}), options);
    Executable* const executable = *session->Prepare({"x"}, {"y"});
    const std::vector<float> values(1 << 20, 1.0f);
    const Tensor x = Floats(values, {1 << 20});
    std::atomic<bool> cancelled{true};
    RunLimits limits;
    limits.cancelled = &cancelled;
    const auto out = session->Run(executable, {x}, /*recorder=*/nullptr, &limits);
    EXPECT_EQ(out.status().code(), absl::StatusCode::kCancelled) << out.status();
    EXPECT_THAT(out.status().message(), HasSubstr("'y'"));
    cancelled.store(false);
    EXPECT_TRUE(session->Run(executable, {x}, /*recorder=*/nullptr, &limits).ok());
  }
}

}  // namespace
}  // namespace tenon::tasks_test
