#include "executor/session/lane_schedule.h"

#include <cmath>
#include <memory>
#include <numeric>
#include <vector>

#include "executor/run/control_steps.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/executor/bare_device_util.h"

namespace tenon::lane_schedule_test {
namespace {

using ::testing::DoubleNear;
using ::testing::ElementsAre;

constexpr double kNear = 1e-4;  // costs are floats

class LaneDevice : public testing::BareDevice {
 public:
  std::string_view type() const override { return "TEST"; }
};

class Queue : public SlowStep {
 public:
  explicit Queue(StreamOf stream) : stream_(stream) {}
  absl::Status Run(Frame&, const StepArgs&) const override { return absl::OkStatus(); }
  std::string Describe() const override { return "queue"; }
  StreamOf Queues() const override { return stream_; }

 private:
  StreamOf stream_;
};

class Waiting : public SlowStep {
 public:
  absl::Status Run(Frame&, const StepArgs&) const override { return absl::OkStatus(); }
  std::string Describe() const override { return "wait"; }
  bool Waits() const override { return true; }
};

// Plans that are made by hand.
class LaneScheduleTest : public ::testing::Test {
 protected:
  uint32_t Step(double us, std::vector<int32_t> reads, std::vector<int32_t> writes,
                std::unique_ptr<SlowStep> slow = nullptr) {
    tenon::Step step{nullptr,
                     nullptr,
                     static_cast<uint32_t>(plan_->args.size()),
                     static_cast<uint32_t>(reads.size()),
                     0,
                     kNoNode};
    if (slow != nullptr) {
      step.fn = RunSlowStep;
      step.state = static_cast<const SlowStep*>(slow.get());
      plan_->resources.slow_steps.push_back(std::move(slow));
    }
    for (const auto& storages : {reads, writes}) {
      for (const int32_t s : storages) {
        if (s >= static_cast<int32_t>(plan_->storages.size())) plan_->storages.resize(s + 1);
        plan_->args.push_back(s);
      }
    }
    plan_->steps.push_back(step);
    plan_->args_end.push_back(static_cast<uint32_t>(plan_->args.size()));
    plan_->step_costs_us.push_back(static_cast<float>(us));
    return static_cast<uint32_t>(plan_->steps.size()) - 1;
  }
  // A task of one step.
  void Task(double us, int32_t waits_for, std::vector<int32_t> followers, double path_us) {
    PlanTask task;
    task.begin = Step(us, {}, {});
    task.end = task.begin + 1;
    task.waits_for = waits_for;
    task.followers = std::move(followers);
    task.cost_us = static_cast<float>(us);
    task.path_us = static_cast<float>(path_us);
    plan_->tasks.push_back(std::move(task));
  }
  LaneSchedule On(int threads) {
    if (plan_->main_steps == 0) plan_->main_steps = static_cast<uint32_t>(plan_->steps.size());
    return ScheduleOnLanes(plan_, threads);
  }

  LaneDevice device_;
  std::shared_ptr<Plan> plan_ = std::make_shared<Plan>();
};

TEST_F(LaneScheduleTest, ARowStaysOnOneThread) {
  Step(2, {}, {0});
  Step(3, {}, {1});
  Step(4, {0}, {2});
  const LaneSchedule schedule = On(2);
  ASSERT_EQ(schedule.lanes.size(), 2u);
  EXPECT_NEAR(schedule.makespan_us, 9, kNear);
  EXPECT_NEAR(schedule.work_us, 9, kNear);
  EXPECT_NEAR(schedule.lanes[0].work_us, 9, kNear);
  EXPECT_EQ(schedule.lanes[1].work_us, 0);
  EXPECT_NEAR(schedule.critical.us, 6, kNear);
  EXPECT_THAT(schedule.critical.links, ElementsAre(0, 2));
}

TEST_F(LaneScheduleTest, TasksShareThreads) {
  // 0 forks into 1 and 2, which 3 joins.
  Task(10, 0, {1, 2}, 70);
  Task(40, 1, {3}, 60);
  Task(30, 1, {3}, 50);
  Task(20, 2, {}, 20);
  EXPECT_NEAR(On(1).makespan_us, 100, kNear);
  const LaneSchedule schedule = On(2);
  EXPECT_NEAR(schedule.makespan_us, 70, kNear);
  EXPECT_NEAR(schedule.work_us, 100, kNear);
  EXPECT_NEAR(schedule.critical.us, 70, kNear);
  EXPECT_THAT(schedule.critical.links, ElementsAre(0, 1, 3));
  EXPECT_NEAR(schedule.tasks[1].start_us, 10, kNear);
  EXPECT_NEAR(schedule.tasks[2].start_us, 10, kNear);
  EXPECT_NE(schedule.tasks[1].lane, schedule.tasks[2].lane);
  EXPECT_NEAR(schedule.tasks[3].start_us, 50, kNear);
}

TEST_F(LaneScheduleTest, TheMostUrgentTaskGoesFirst) {
  Task(1, 0, {}, 90);
  Task(5, 0, {}, 80);
  Task(5, 0, {}, 70);
  const LaneSchedule schedule = On(1);
  EXPECT_NEAR(schedule.tasks[0].start_us, 0, kNear);
  EXPECT_NEAR(schedule.tasks[1].start_us, 1, kNear);
  EXPECT_NEAR(schedule.tasks[2].start_us, 6, kNear);
}

// A kernel on a device and a copy of its result to the host, while the host computes.
TEST_F(LaneScheduleTest, StreamsWorkBesideTheHost) {
  Step(20, {}, {0}, std::make_unique<Queue>(StreamOf{&device_, nullptr, "compute"}));
  Step(10, {0}, {1}, std::make_unique<Queue>(StreamOf{&device_, nullptr, "d2h"}));
  Step(5, {}, {2});
  Step(0, {0}, {1}, std::make_unique<Waiting>());
  Step(3, {1, 2}, {3});
  const LaneSchedule schedule = On(1);
  ASSERT_EQ(schedule.lanes.size(), 3u);
  EXPECT_FALSE(schedule.lanes[1].is_host);
  EXPECT_NEAR(schedule.lanes[1].work_us, 20, kNear);
  EXPECT_NEAR(schedule.lanes[2].work_us, 10, kNear);
  // Queueing takes 0.6 us; the copy begins when the kernel is done.
  std::vector<double> starts;
  for (const LaneSpan& span : schedule.spans) {
    if (!schedule.lanes[span.lane].is_host) starts.push_back(span.start_us);
  }
  EXPECT_THAT(starts, ElementsAre(DoubleNear(0.6, kNear), DoubleNear(20.6, kNear)));
  EXPECT_NEAR(schedule.lanes[0].wait_us, 30.6 - 6.2, kNear);
  EXPECT_NEAR(schedule.makespan_us, 30.6 + 0.2 + 3, kNear);
  EXPECT_THAT(schedule.critical.links, ElementsAre(0, 1, 3, 4));
  EXPECT_NEAR(schedule.critical.us, 20 + 10 + 0.2 + 3, kNear);
}

TEST_F(LaneScheduleTest, ALoopIsOneSpanOfTenPasses) {
  Step(1, {}, {0});
  auto loop = std::make_unique<LoopStep>();
  loop->SetSteps({2, 4});
  Step(0, {}, {}, std::move(loop));
  plan_->main_steps = 2;
  Step(2, {}, {});
  Step(3, {}, {});
  const LaneSchedule schedule = On(1);
  EXPECT_EQ(schedule.spans.size(), 2u);
  EXPECT_NEAR(schedule.makespan_us, 51, kNear);
}

TEST_F(LaneScheduleTest, AnEmptyPlanTakesNoTime) {
  const LaneSchedule schedule = On(3);
  EXPECT_EQ(schedule.lanes.size(), 3u);
  EXPECT_EQ(schedule.makespan_us, 0);
  EXPECT_TRUE(schedule.critical.links.empty());
}

}  // namespace
}  // namespace tenon::lane_schedule_test
