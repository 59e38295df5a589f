#include "executor/plan/base/step_schedule.h"

#include <algorithm>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace tenon {
namespace {

using ::testing::ElementsAre;

class StepScheduleTest : public ::testing::Test {
 protected:
  int32_t Step(int32_t guard) {
    GraphStep& step = graph_.steps.emplace_back();
    step.fn = RunSlowStep;
    step.guard = guard;
    step.loop = graph_.open_loop;
    return graph_.num_steps() - 1;
  }
  // A step that sets the flags of two outputs. Returns the first.
  int32_t Switch(int32_t guard) {
    const int32_t first = graph_.flags.AddFamily(2, guard, {nullptr, -1});
    Step(guard);
    graph_.steps.back().SetsFlags(first, 2, guard);
    return first;
  }
  void OpenLoop(int32_t guard) {
    PlanLoop loop;
    loop.parent = graph_.open_loop;
    loop.open_step = Step(guard);
    graph_.open_loop = static_cast<int32_t>(graph_.loops.size());
    graph_.loops.push_back(loop);
  }
  void CloseLoop() {
    PlanLoop& loop = graph_.loops[graph_.open_loop];
    loop.close_step = Step(FlagTree::kAlways);
    graph_.steps.back().fn = nullptr;
    graph_.open_loop = loop.parent;
  }

  StepGraph graph_;
};

TEST_F(StepScheduleTest, StepsThatAlwaysRunAreOneRow) {
  for (int i = 0; i < 3; ++i) Step(FlagTree::kAlways);
  const StepSchedule schedule = ScheduleSteps(graph_);
  ASSERT_EQ(schedule.rows.size(), 1u);
  EXPECT_THAT(schedule.rows[0].entries, ElementsAre(0, 1, 2));
  EXPECT_THAT(schedule.row_of, ElementsAre(0, 0, 0));
}

TEST_F(StepScheduleTest, ABranchOfTwoStepsIsJumpedOver) {
  const int32_t flag = Switch(FlagTree::kAlways);
  Step(flag);
  Step(flag);
  Step(flag + 1);  // looks at its flag itself
  Step(FlagTree::kAlways);
  const StepSchedule schedule = ScheduleSteps(graph_);
  ASSERT_EQ(schedule.rows.size(), 2u);
  EXPECT_THAT(schedule.rows[0].entries, ElementsAre(0, -2, 3, 4));
  EXPECT_THAT(schedule.rows[1].entries, ElementsAre(1, 2));
  EXPECT_EQ(schedule.rows[1].guard, flag);
}

TEST_F(StepScheduleTest, ABranchThatIsJumpedOverLetsAllItsFlagsDie) {
  const int32_t outer = Switch(FlagTree::kAlways);
  const int32_t first = Switch(outer);
  Step(first);
  Step(first);
  const int32_t second = Switch(outer);
  const int32_t deep = Switch(second);
  Step(deep);
  const StepSchedule schedule = ScheduleSteps(graph_);
  ASSERT_EQ(schedule.rows.size(), 4u);
  const StepRow &branch = schedule.rows[1], &inner = schedule.rows[2], &last = schedule.rows[3];
  EXPECT_EQ(branch.guard, outer);
  EXPECT_EQ(branch.first_flag, first);
  EXPECT_EQ(branch.end_flag, deep + 2);
  EXPECT_EQ(inner.end_flag - inner.first_flag, 0);
  EXPECT_EQ(last.guard, second);
  EXPECT_EQ(last.first_flag, deep);
  EXPECT_EQ(last.end_flag, deep + 2);
}

TEST_F(StepScheduleTest, LoopsAreRowsThatEndWithThem) {
  Step(FlagTree::kAlways);
  OpenLoop(FlagTree::kAlways);
  Step(FlagTree::kAlways);
  const int32_t flag = Switch(FlagTree::kAlways);
  Step(flag);
  Step(flag);
  OpenLoop(flag);
  CloseLoop();
  CloseLoop();
  Step(FlagTree::kAlways);
  const StepSchedule schedule = ScheduleSteps(graph_);
  ASSERT_EQ(schedule.rows.size(), 4u);
  EXPECT_EQ(schedule.rows[1].loop, 0);
  EXPECT_EQ(schedule.rows[2].guard, flag);
  EXPECT_EQ(schedule.rows[3].loop, 1);
  EXPECT_EQ(schedule.rows[3].parent, 2);
  EXPECT_THAT(schedule.row_of, ElementsAre(0, 0, 1, 1, 2, 2, 2, 3, 1, 0));
  EXPECT_EQ(schedule.CommonRow(3, 1), 1);
  EXPECT_EQ(schedule.CommonRow(2, 0), 0);
}

TEST_F(StepScheduleTest, RowsAreNoDeeperThanALimit) {
  OpenLoop(FlagTree::kAlways);
  for (int i = 0; i < 1000; ++i) {
    OpenLoop(FlagTree::kAlways);
    const int32_t flag = Switch(FlagTree::kAlways);
    Step(flag);
    Step(flag);
  }
  while (graph_.open_loop >= 0) CloseLoop();
  const StepSchedule schedule = ScheduleSteps(graph_);
  int32_t deepest_branch = 0;
  for (const StepRow& row : schedule.rows)
    deepest_branch = std::max(deepest_branch, row.loop < 0 ? row.depth : 0);
  EXPECT_EQ(deepest_branch, 128);
}

}  // namespace
}  // namespace tenon
