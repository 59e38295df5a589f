// --op-table: the runs that it tells of.
#include <gmock/gmock.h>

#include <cmath>
#include <cstdio>

#include "executor/cli/reports/run_reports.h"
#include "executor/run/run_recorder.h"
#include "tests/executor/graph_text_util.h"

namespace tenon::cli {
namespace {

using ::testing::HasSubstr;

// Passes of more steps than a recorder keeps.
constexpr float kTooMany = RunRecorder::kMaxSteps / 4;

// A loop of as many passes as its input says.
class OpTable : public ::testing::Test {
 protected:
  void Run(float passes) {
    ASSERT_TRUE(session_->Run(executable_, {testing::Floats({passes}, {})}, &recorder_).ok());
  }
  std::string Text() const {
    Invocation invocation;
    AddOpTable(recorder_, "text", invocation);
    return invocation.text;
  }

  std::unique_ptr<Session> session_ = testing::MakeSession(
      testing::Numbers() +
      testing::Loop("w_", testing::Node("w_body", "Neg", {"w_switch_x:1"}), "zero", "half", "n"));
  Executable* executable_ = *session_->Prepare({"n"}, {"w_exit_x"});
  RunRecorder recorder_{false};
};

// Whole runs of different lengths are whole, whether or not a later run fills the recorder.
TEST_F(OpTable, TellsOfWholeRuns) {
  Run(1);
  Run(20);
  EXPECT_THAT(Text(), HasSubstr("of 2 runs"));
  Run(kTooMany);
  EXPECT_EQ(recorder_.Room(), 0u);
  EXPECT_THAT(Text(), HasSubstr("of 2 runs"));
  Run(1);  // of which nothing is recorded
  EXPECT_THAT(Text(), HasSubstr("of 2 runs"));
}

// What the passes of a loop took belongs to the loop, and one thread does it all.
TEST_F(OpTable, TheCriticalPathHasTheLoopWithItsPasses) {
  Run(200);
  EXPECT_THAT(Text(), HasSubstr("critical path"));
  EXPECT_THAT(Text(), HasSubstr("that read each other's results"));
  Invocation csv;
  AddOpTable(recorder_, "lanes-csv", csv);
  int thread = -1;
  double work = 0, wait = 0, idle = 0, critical = 0;
  long steps = 0;
  const size_t header = csv.text.find('\n') + 1;
  ASSERT_EQ(std::sscanf(csv.text.c_str() + header, "%d,%ld,%lf,%lf,%lf,%lf", &thread, &steps, &work,
                        &wait, &idle, &critical),
            6)
      << csv.text;
  EXPECT_EQ(thread, 0);
  EXPECT_GT(steps, 200);
  EXPECT_EQ(wait, 0);
  EXPECT_GT(critical, 0.8 * work);
  EXPECT_LE(critical, work + 0.01);
}

TEST_F(OpTable, TellsOfTheBeginningWhereNoRunIsWhole) {
  Run(kTooMany);
  EXPECT_THAT(Text(), HasSubstr("of the first 1048576 steps of a run"));
}

TEST_F(OpTable, LeavesRunsThatFailedOut) {
  const std::unique_ptr<Session> session = testing::MakeSession(
      testing::Placeholder("x", "") + testing::Node("a", "Neg", {"x"}) +
      testing::Node("y", "CheckNumerics", {"a"}, "attr { key: 'message' value { s: 'bad' } }"));
  Executable* const executable = *session->Prepare({"x"}, {"y"});
  EXPECT_TRUE(session->Run(executable, {testing::Floats({1}, {})}, &recorder_).ok());
  EXPECT_FALSE(session->Run(executable, {testing::Floats({NAN}, {})}, &recorder_).ok());
  EXPECT_THAT(Text(), HasSubstr("of 1 run\n"));
}

}  // namespace
}  // namespace tenon::cli
