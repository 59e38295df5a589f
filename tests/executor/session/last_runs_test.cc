#include "executor/session/last_runs.h"

#include <atomic>
#include <limits>
#include <thread>
#include <vector>

#include "executor/run/slow_steps.h"
#include "executor/session/session.h"
#include "gtest/gtest.h"
#include "tests/executor/graph_text_util.h"

namespace tenon::last_runs_test {
namespace {

using testing::Floats;
using testing::Node;
using testing::Parse;
using testing::Placeholder;
using testing::Values;

std::vector<Tensor> Feed(int64_t n) { return {Floats(std::vector<float>(n, 1), Shape({n}))}; }

class LastRunsTest : public ::testing::Test {
 protected:
  std::unique_ptr<LastRuns::Run> RunOf(const std::shared_ptr<CachedPlan>& plan) {
    return std::make_unique<LastRuns::Run>(plan, *plan->frames.Take(*plan->plan));
  }
  std::shared_ptr<CachedPlan> Add(int64_t n) {
    return cache_.Add(Feed(n), false, std::make_shared<const Plan>(), &dropped_);
  }

  PlanCache cache_{1, std::numeric_limits<int64_t>::max()};
  bool dropped_ = false;
  LastRuns last_;
};

TEST_F(LastRunsTest, AThreadGetsItsLastFrameForTheSameShapes) {
  const auto plan = Add(2);
  EXPECT_EQ(last_.Take(Feed(2)), nullptr);
  auto run = RunOf(plan);
  const Frame* const frame = run->frame.get();
  last_.Keep(std::move(run));
  std::thread([&] { EXPECT_EQ(last_.Take(Feed(2)), nullptr) << "of another thread"; }).join();
  run = last_.Take(Feed(2));
  ASSERT_NE(run, nullptr);
  EXPECT_EQ(run->frame.get(), frame);
  EXPECT_EQ(last_.Take(Feed(2)), nullptr) << "it is in use";
  last_.Keep(std::move(run));
  EXPECT_EQ(last_.hits(), 1);
  EXPECT_EQ(last_.Take(Feed(3)), nullptr);
  EXPECT_EQ(plan->frames.num_idle(), 1u) << "other runs of the plan may have the frame";
}

TEST_F(LastRunsTest, DroppedPlansAreLetGo) {
  std::weak_ptr<CachedPlan> kept, taken;
  std::unique_ptr<LastRuns::Run> run;
  {
    const auto plan = Add(2);
    EXPECT_FALSE(dropped_);
    kept = plan;
    last_.Keep(RunOf(plan));
  }
  EXPECT_FALSE(kept.expired());
  {
    const auto plan = Add(3);
    EXPECT_TRUE(dropped_);
    last_.LetDroppedGo();
    EXPECT_TRUE(kept.expired());
    taken = plan;
    run = RunOf(plan);
  }
  cache_.Clear();
  last_.LetDroppedGo();
  EXPECT_FALSE(taken.expired());
  last_.Keep(std::move(run));
  EXPECT_TRUE(taken.expired());
}

// Shapes alternate, plans are dropped all the time, and more threads than shards have runs.
TEST(LastRuns, ManyThreadsRunBriefPlansAtOnce) {
  SessionOptions options;
  options.max_cached_plans = 2;
  options.threads = 2;
  auto session = Session::Create(
      Parse(Placeholder("x", "dim { size: -1 }") + Node("a", "Neg", {"x"})), {}, options);
  ASSERT_TRUE(session.ok()) << session.status();
  auto e = (*session)->Prepare({"x"}, {"a"});
  ASSERT_TRUE(e.ok()) << e.status();
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < LastRuns::kShards + 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 40; ++i) {
        const int64_t n = 1 + (i / 4 + t) % 3;
        const auto value = static_cast<float>(t * 100 + i);
        const auto out = (*session)->Run(*e, {Floats(std::vector<float>(n, value), Shape({n}))});
        if (!out.ok() || Values((*out)[0]) != std::vector<float>(n, -value)) ++wrong;
      }
    });
  }
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(wrong.load(), 0);
}

TEST(LastRuns, RunsAreCountedAsBefore) {
  auto session =
      testing::MakeSession(Placeholder("x", "dim { size: 2 }") + Node("a", "Neg", {"x"}));
  auto e = session->Prepare({"x"}, {"a"});
  ASSERT_TRUE(e.ok()) << e.status();
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(session->Run(*e, Feed(2)).ok());
  EXPECT_EQ(PlanCacheOf(**e).builds, 1);
  EXPECT_EQ(PlanCacheOf(**e).hits, 9);
}

}  // namespace
}  // namespace tenon::last_runs_test
