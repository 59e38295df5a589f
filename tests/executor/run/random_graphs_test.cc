// Graphs made at random give the same bits, or the same error, on any number of threads, in any
// order of nodes, however these are cut into tasks, and beside other runs.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "executor/session/session.h"
#include "plugin/cpu/base/workers.h"
#include "plugin/host/loading/loader.h"
#include "tests/executor/graph_text_util.h"
#include "tests/executor/run/random_graphs_util.h"
#include "tests/executor/run/rough_watch_util.h"
#include "tests/support/parse_graph.h"
#include "tests/support/paths.h"
#include "tests/support/watchdog.h"

namespace tenon::random_graphs_test {
namespace {

using testing::MakeRandomGraph;
using testing::RandomGraph;
using testing::RoughWatch;

using Answer = absl::StatusOr<std::vector<Tensor>>;

// TENON_RANDOM_GRAPHS, TENON_RANDOM_RUNS and TENON_RANDOM_CALLERS ask for more than the tests do by
// default, TENON_RANDOM_FIRST for other seeds. TENON_RANDOM_PRINT=1 prints the graphs.
int Setting(const char* name, int otherwise) {
  const char* const text = std::getenv(name);
  int value = 0;
  return text != nullptr && absl::SimpleAtoi(text, &value) ? value : otherwise;
}

bool SameBits(const Tensor& a, const Tensor& b) {
  return a.dtype() == b.dtype() && a.shape() == b.shape() && a.bytes() == b.bytes() &&
         std::memcmp(a.data(), b.data(), a.bytes()) == 0;
}

// Empty if both are the same.
std::string Difference(const RandomGraph& graph, const Answer& expected, const Answer& answer) {
  if (expected.status() != answer.status())
    return absl::StrCat(answer.status().ToString(), " instead of ", expected.status().ToString());
  if (!expected.ok()) return "";
  for (size_t i = 0; i < graph.fetches.size(); ++i) {
    if (!SameBits((*expected)[i], (*answer)[i])) return absl::StrCat("'", graph.fetches[i], "'");
  }
  return "";
}

struct Form {
  int threads;
  InterOp inter_op;
  bool rough;
  NodeOrder order = NodeOrder::kAuto;  // with kSeed, each session has a seed of its own
  int device_streams = 1;
};

class RandomGraphs : public ::testing::Test {
 protected:
  // A session of the graph, prepared.
  struct Ready {
    std::unique_ptr<RoughWatch> watch;
    std::unique_ptr<Session> session;
    Executable* executable = nullptr;
    Answer Run(const RandomGraph& graph) const { return session->Run(executable, graph.values); }
  };
  Ready Make(const RandomGraph& graph, const Form& form, int opt_level) {
    SessionOptions options;
    options.opt_level = opt_level;
    options.pipeline.min_graph_nodes = -1;
    options.seed = 5;
    options.inter_op = form.inter_op;
    options.order = form.order;
    options.order_seed = seeds_++;
    options.device_streams = form.device_streams;
    options.workers = form.threads == 1   ? one_
                      : form.threads == 2 ? two_
                      : form.threads == 3 ? three_
                                          : five_;
    Ready ready;
    ready.watch = std::make_unique<RoughWatch>(seeds_++, filled_);
    if (form.rough) options.watch = ready.watch.get();
    auto session = Session::Create(testing::Parse(graph.text), devices_, options);
    EXPECT_TRUE(session.ok()) << session.status();
    if (!session.ok()) return ready;
    ready.session = *std::move(session);
    absl::StatusOr<Executable*> executable = ready.session->Prepare(graph.feeds, graph.fetches);
    EXPECT_TRUE(executable.ok()) << executable.status();
    ready.executable = executable.value_or(nullptr);
    return ready;
  }

  // Runs one after the other, as they should be. After a run that failed state may be different:
  // steps that a serial run would not have reached may have run.
  std::vector<Answer> Series(const RandomGraph& graph, const Form& form, int opt_level, int runs) {
    std::vector<Answer> answers;
    Ready ready = Make(graph, form, opt_level);
    for (int i = 0; i < runs && ready.executable != nullptr; ++i) {
      answers.push_back(ready.Run(graph));
      if (i == 0 && PlanText(*ready.executable).find("\ntask 1:") != std::string::npos)
        ++(form.inter_op == InterOp::kOn ? on_ : always_);
      if (!answers.back().ok() && graph.has_state) ready = Make(graph, form, opt_level);
    }
    return answers;
  }

  void CheckAll(int graphs) {
    graphs = Setting("TENON_RANDOM_GRAPHS", graphs);
    const int runs = Setting("TENON_RANDOM_RUNS", 2), first = Setting("TENON_RANDOM_FIRST", 0);
    for (int seed = first; seed < first + graphs && !HasFatalFailure(); ++seed) {
      SCOPED_TRACE(absl::StrCat("seed ", seed));
      const testing::Watchdog watchdog(std::chrono::seconds(120), absl::StrCat("seed ", seed));
      Check(static_cast<uint32_t>(seed), runs);
    }
    RecordProperty("failing_graphs", failed_);
    RecordProperty("tasks_on", on_);
    RecordProperty("tasks_always", always_);
    if (graphs < 20) return;
    EXPECT_GT(on_, graphs / 20);
    EXPECT_GT(always_, 3 * graphs);
  }

  void Check(uint32_t seed, int runs) {
    const RandomGraph graph = MakeRandomGraph(seed, !devices_.empty());
    if (Setting("TENON_RANDOM_PRINT", 0) != 0) {
      std::printf("# fetches: %s\n%s", absl::StrJoin(graph.fetches, " ").c_str(),
                  graph.text.c_str());
    }
    const int opt_level = static_cast<int>(seed % 2);
    const std::vector<Answer> expected = Series(graph, {1, InterOp::kOff, false}, opt_level, runs);
    ASSERT_EQ(expected.size(), static_cast<size_t>(runs));
    failed_ += expected[0].ok() ? 0 : 1;
    for (const Form& form : kForms) {
      const std::vector<Answer> answers = Series(graph, form, opt_level, runs);
      ASSERT_EQ(answers.size(), expected.size());
      for (int i = 0; i < runs; ++i) {
        const std::string wrong = Difference(graph, expected[i], answers[i]);
        EXPECT_EQ(wrong, "") << "run " << i << " with " << form.threads << " threads, inter_op "
                             << static_cast<int>(form.inter_op) << ", rough " << form.rough
                             << ", order " << static_cast<int>(form.order) << ", device streams "
                             << form.device_streams << ", seeds up to " << seeds_ << ", level "
                             << opt_level;
      }
    }
    CheckTogether(graph, expected[0], opt_level, runs);
  }

  // Several runs at once, of one session. With state they only have to end.
  void CheckTogether(const RandomGraph& graph, const Answer& expected, int opt_level, int runs) {
    const Ready ready = Make(graph, {3, InterOp::kAlways, true, NodeOrder::kSeed, 3}, opt_level);
    ASSERT_NE(ready.executable, nullptr);
    std::vector<std::string> wrong(Setting("TENON_RANDOM_CALLERS", 4));
    std::vector<std::thread> callers;
    for (std::string& of_one : wrong) {
      callers.emplace_back([&graph, &ready, &expected, &of_one, runs] {
        for (int i = 0; i < runs && of_one.empty(); ++i) {
          const Answer answer = ready.Run(graph);
          if (!graph.has_state) of_one = Difference(graph, expected, answer);
        }
      });
    }
    for (std::thread& caller : callers) caller.join();
    for (const std::string& of_one : wrong) EXPECT_EQ(of_one, "") << "several at once";
  }

  static constexpr Form kForms[] = {{2, InterOp::kOn, false},
                                    {3, InterOp::kOn, false},
                                    {5, InterOp::kOn, true},
                                    {2, InterOp::kAlways, true},
                                    {3, InterOp::kAlways, false},
                                    {3, InterOp::kAlways, true},
                                    {5, InterOp::kAlways, true},
                                    {1, InterOp::kOff, false, NodeOrder::kSeed},
                                    {1, InterOp::kOff, false, NodeOrder::kSeed},
                                    {3, InterOp::kAlways, true, NodeOrder::kSeed},
                                    {2, InterOp::kOn, false, NodeOrder::kFile},
                                    {2, InterOp::kOn, false, NodeOrder::kMemory},
                                    {2, InterOp::kOn, false, NodeOrder::kSpeed},
                                    {1, InterOp::kOff, false, NodeOrder::kAuto, 3},
                                    {3, InterOp::kAlways, true, NodeOrder::kSeed, 3}};

  std::vector<Device*> devices_;
  RoughWatch::Filled filled_;
  uint32_t seeds_ = 0;  // of watches and of orders
  const std::shared_ptr<Workers> one_ = std::make_shared<Workers>(1);
  const std::shared_ptr<Workers> two_ = std::make_shared<Workers>(2);
  const std::shared_ptr<Workers> three_ = std::make_shared<Workers>(3);
  const std::shared_ptr<Workers> five_ = std::make_shared<Workers>(5);
  int failed_ = 0;           // graphs of which each run fails
  int on_ = 0, always_ = 0;  // sessions whose plans have tasks, by InterOp
};

TEST_F(RandomGraphs, AnswerAlikeOnAnyThreads) {
  CheckAll(50);
  EXPECT_GT(filled_.before, 0);
  EXPECT_GT(filled_.after, 0);
}

TEST_F(RandomGraphs, AnswerAlikeWithADevice) {
  ASSERT_TRUE(LoadPlugin(testing::Built("lib/plugins/libapu.so")).ok());
  absl::StatusOr<std::vector<Device*>> devices = PluginDevices();
  ASSERT_TRUE(devices.ok()) << devices.status();
  devices_ = *devices;
  CheckAll(30);
}

}  // namespace
}  // namespace tenon::random_graphs_test
