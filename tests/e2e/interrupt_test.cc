// Ctrl-C: what there is by then is printed, and the exit code is 130.
#include <gmock/gmock.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <thread>

#include "absl/strings/match.h"
#include "tests/e2e/process_util.h"
#include "tests/support/paths.h"

namespace tenon::testing {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr double kWellInItsRuns = 0.5;  // seconds of a processor; the start takes a tenth

double ProcessorSeconds(pid_t pid) {
  const std::string stat = ReadFile("/proc/" + std::to_string(pid) + "/stat");
  std::istringstream fields(stat.substr(stat.rfind(')') + 2));
  std::string skipped;
  for (int i = 0; i < 11; ++i) fields >> skipped;
  double user = 0, system = 0;
  fields >> user >> system;
  return (user + system) / static_cast<double>(sysconf(_SC_CLK_TCK));
}

// The signal once the process has computed for so long, or within a minute.
void SignalAtWork(pid_t pid, int signal) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  while (ProcessorSeconds(pid) < kWellInItsRuns && std::chrono::steady_clock::now() < end)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  kill(pid, signal);
}

void InterruptAtWork(pid_t pid) { SignalAtWork(pid, SIGINT); }
void TerminateAtWork(pid_t pid) { SignalAtWork(pid, SIGTERM); }

std::string StatusOf(pid_t pid) { return ReadFile("/proc/" + std::to_string(pid) + "/status"); }

bool HandlesInterrupts(pid_t pid) {
  const std::string status = StatusOf(pid), key = "SigCgt:\t";
  const size_t at = status.find(key);
  return at != std::string::npos && (std::stoull(status.substr(at + key.size(), 16), nullptr, 16) &
                                     (1ull << (SIGINT - 1))) != 0;
}

// One SIGINT after the other until the process has ended.
void InterruptUntilTheEnd(pid_t pid) {
  while (!HandlesInterrupts(pid)) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  for (int i = 0; i < 100 && StatusOf(pid).find("zombie") == std::string::npos; ++i) {
    kill(pid, SIGINT);
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
}

Finished Interrupted(std::vector<std::string> args) {
  args.insert(args.begin() + 1, {kMlp, "--input", "x=4x20xf32=ones", "--threads", "1"});
  return GraphRun(Start{.args = std::move(args), .meanwhile = InterruptAtWork});
}

TEST(Interrupt, BenchTellsOfTheRunsUntilThen) {
  const Finished bench = Interrupted({"bench", "--seconds", "100", "--json"});
  EXPECT_EQ(bench.exit, 130);
  const json doc = json::parse(bench.out);
  EXPECT_EQ(doc["status"]["code"], "CANCELLED");
  EXPECT_GT(doc["count"], 0);
  EXPECT_GT(doc["p50_us"], 0);
  const Finished text = Interrupted({"bench", "--seconds", "100", "--concurrency", "2"});
  EXPECT_EQ(text.exit, 130);
  EXPECT_THAT(text.out, HasSubstr(" a run (median), "));
  EXPECT_THAT(text.err, HasSubstr("interrupted (SIGINT)"));
}

// What ends a process in a container or a batch.
TEST(Interrupt, SigtermDoesTheSame) {
  const std::vector<std::string> model = {kMlp, "--input", "x=4x20xf32=ones", "--seconds", "100"};
  std::vector<std::string> args = {"bench", "--json"};
  args.insert(args.end(), model.begin(), model.end());
  const Finished bench = GraphRun(Start{.args = args, .meanwhile = TerminateAtWork});
  EXPECT_EQ(bench.exit, 130);
  EXPECT_GT(json::parse(bench.out)["count"], 0);
  EXPECT_THAT(bench.err, HasSubstr("interrupted (SIGTERM)"));
  args[0] = "run";
  const Finished run = GraphRun(Start{.args = args, .meanwhile = TerminateAtWork});
  EXPECT_EQ(run.exit, 130);
  EXPECT_EQ(json::parse(run.out)["fetches"][0]["name"], "out");
  // A command that has nothing to show yet writes its document all the same.
  const Finished warming =
      GraphRun(Start{.args = {"bench", kMlp, "--warmup", "9000000000000", "--json"},
                     .meanwhile = TerminateAtWork});
  EXPECT_EQ(warming.exit, 130);
  EXPECT_EQ(json::parse(warming.out)["status"]["code"], "CANCELLED");
}

TEST(Interrupt, ComparisonsTellOfTheRoundsUntilThen) {
  const Finished bench = Interrupted({"bench", "--seconds", "100", "--ab", "", "--json"});
  EXPECT_EQ(bench.exit, 130);
  const json doc = json::parse(bench.out);
  EXPECT_GT(doc["rounds"], 0);
  EXPECT_GT(doc["a"]["count"], 0);
  EXPECT_GT(doc["b"]["count"], 0);
}

TEST(Interrupt, RunPrintsWhatItHas) {
  const Finished run = Interrupted({"run", "--seconds", "100", "--json"});
  EXPECT_EQ(run.exit, 130);
  EXPECT_EQ(json::parse(run.out)["fetches"][0]["name"], "out");
  const Finished session = Interrupted({"run", "--session-runs", "16777216", "--quiet"});
  EXPECT_EQ(session.exit, 130);
  EXPECT_THAT(session.out, HasSubstr("out  f32[4,10]"));
  const Finished table =
      Interrupted({"run", "--session-runs", "16777216", "--quiet", "--op-table"});
  EXPECT_EQ(table.exit, 130);
  EXPECT_THAT(table.out, HasSubstr("MatMul"));
}

// Runs before those that count leave nothing to tell.
TEST(Interrupt, ElsewhereTheDocumentIsWrittenAtOnce) {
  const Finished bench = Interrupted({"bench", "--warmup", "9000000000000", "--json"});
  EXPECT_EQ(bench.exit, 130);
  const json doc = json::parse(bench.out);
  EXPECT_EQ(doc["status"]["code"], "CANCELLED");
  EXPECT_FALSE(doc.contains("count"));
  EXPECT_THAT(bench.err, HasSubstr("graph_run: interrupted (SIGINT)\n"));
  EXPECT_THAT(bench.err, Not(HasSubstr("printed")));
}

// One run has nothing to show before its end, and several may never come to the next one.
TEST(Interrupt, OneEndsARunThatHangs) {
  const std::string graph = TempFile("hang.pbtxt", "node { name: \"n\" op: \"RogueOp\" }\n");
  const std::string plugin = TestPlugin("rogue") + ";ROGUE=compute_hang";
  for (const char* runs : {"1", "2"}) {
    const auto once = [](pid_t pid) {
      while (!HandlesInterrupts(pid)) std::this_thread::sleep_for(std::chrono::milliseconds(10));
      std::this_thread::sleep_for(std::chrono::seconds(1));
      kill(pid, SIGTERM);
    };
    const Finished run = GraphRun(Start{
        .args = {"run", graph, "--json", "--runs", runs, "--plugin", plugin}, .meanwhile = once});
    EXPECT_EQ(run.exit, 130);
    EXPECT_EQ(json::parse(run.out)["status"]["code"], "CANCELLED");
    EXPECT_EQ(absl::StrContains(run.err, "has not ended within 10 s"), *runs == '2') << run.err;
  }
}

// A run that never comes back cannot stop by itself.
TEST(Interrupt, TheSecondOneEndsARunThatHangs) {
  const std::string graph = TempFile("hang.pbtxt", "node { name: \"n\" op: \"RogueOp\" }\n");
  const std::string plugin = TestPlugin("rogue") + ";ROGUE=compute_hang";
  const Finished run = GraphRun(Start{.args = {"run", graph, "--json", "--plugin", plugin},
                                      .meanwhile = InterruptUntilTheEnd});
  EXPECT_EQ(run.exit, 130);
  EXPECT_EQ(json::parse(run.out)["status"]["code"], "CANCELLED");
}

}  // namespace
}  // namespace tenon::testing
