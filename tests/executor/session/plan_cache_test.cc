#include "executor/session/plan_cache.h"

#include <atomic>
#include <limits>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "executor/run/slow_steps.h"
#include "gtest/gtest.h"
#include "plugin/cpu/base/workers.h"
#include "tests/executor/graph_text_util.h"

namespace tenon::plan_cache_test {
namespace {

std::vector<Tensor> Feed(int64_t n) {
  return {testing::Floats(std::vector<float>(n, 1), Shape({n}))};
}

// A plan that owns a constant of so many floats.
std::shared_ptr<const Plan> PlanWith(int64_t floats) {
  auto plan = std::make_shared<Plan>();
  plan->resources.own_constants.push_back(
      std::make_unique<Tensor>(*Tensor::Allocate(DataType::kFloat, Shape({floats}))));
  return plan;
}

TEST(PlanCache, CountsConstantsThatNobodyShares) {
  const auto plan = PlanWith(1000);
  EXPECT_EQ(HeldBytes(*plan), 4000);
  const Tensor shared = *plan->resources.own_constants[0];
  EXPECT_EQ(HeldBytes(*plan), 0);
}

TEST(PlanCache, DropsWhatWasUsedLongestAgoForBytes) {
  PlanCache cache(64, 10'000);
  bool dropped = false;
  for (int64_t n = 1; n <= 2; ++n) {
    cache.Add(Feed(n), false, PlanWith(1000), &dropped);
    EXPECT_FALSE(dropped);
  }
  EXPECT_NE(cache.Find(Feed(1), false), nullptr);
  cache.Add(Feed(3), false, PlanWith(1000), &dropped);
  EXPECT_TRUE(dropped);
  EXPECT_EQ(cache.Find(Feed(2), false), nullptr);
  EXPECT_NE(cache.Find(Feed(1), false), nullptr);
  // Two plans go for one; a plan that is larger than the limit stays until the next one comes.
  cache.Add(Feed(4), false, PlanWith(5000), &dropped);
  EXPECT_TRUE(dropped);
  EXPECT_EQ(cache.size(), 1);
  EXPECT_NE(cache.Find(Feed(4), false), nullptr);
  cache.Add(Feed(5), false, PlanWith(1), &dropped);
  EXPECT_TRUE(dropped);
  EXPECT_EQ(cache.Find(Feed(4), false), nullptr);
  cache.Clear();
  cache.Add(Feed(6), false, PlanWith(2500), &dropped);
  EXPECT_FALSE(dropped) << "nothing is counted any more";
}

TEST(PlanCache, ASessionKeepsItsBytes) {
  SessionOptions options;
  options.max_plan_bytes = 1;  // less than the tables of any plan
  const std::unique_ptr<Session> session = testing::MakeSession(
      testing::Placeholder("x", "unknown_rank: true") + testing::Node("y", "Relu", {"x"}), options);
  for (int64_t n = 1; n <= 3; ++n) {
    const auto y = session->Run({{"x", Feed(n)[0]}}, {"y"});
    ASSERT_TRUE(y.ok()) << y.status();
    EXPECT_EQ(testing::Values((*y)[0]), std::vector<float>(n, 1));
  }
  const absl::StatusOr<Executable*> executable = session->Prepare({"x"}, {"y"});
  ASSERT_TRUE(executable.ok()) << executable.status();
  EXPECT_EQ(PlanCacheOf(**executable).plans, 1);  // the one that was used last
}

// While as many graphs run as the pool has threads, a run has a plan for its own thread alone, with
// the same answers. It takes nobody's room in the cache, and reports are about the other plan.
TEST(PlanCache, ACrowdedSessionHasPlansForOneThread) {
  const std::string text =
      testing::Placeholder("x", "dim { size: 256 } dim { size: 300 }") +
      testing::Node("s", "Softmax", {"x"}) + testing::Node("t", "Tanh", {"s"}) +
      testing::Node("e", "Exp", {"x"}) +
      testing::Node("y", "MatMul", {"t", "e"}, "attr { key: 'transpose_b' value { b: true } }");
  std::vector<float> numbers(256 * 300);
  for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<float>(i % 77) / 50 - 1;
  const Tensor x = testing::Floats(numbers, Shape({256, 300}));
  for (const int max_plans : {1, 8}) {
    SessionOptions options;
    options.max_cached_plans = max_plans;
    options.workers = std::make_shared<Workers>(3);
    const std::unique_ptr<Session> session = testing::MakeSession(text, options);
    const absl::StatusOr<Executable*> executable = session->Prepare({"x"}, {"y"});
    ASSERT_TRUE(executable.ok()) << executable.status();
    const auto run = [&] {
      const auto y = session->Run(*executable, {&x, 1});
      EXPECT_TRUE(y.ok()) << y.status();
      return y.ok() ? testing::Values((*y)[0]) : std::vector<float>();
    };
    const std::vector<float> calm = run();
    const std::string plan = PlanText(**executable);
    EXPECT_FALSE(options.workers->is_crowded());
    std::atomic<int> runners = 0;
    std::atomic<bool> ends = false;
    std::vector<std::thread> others;
    for (int i = 0; i < 3; ++i) {
      others.emplace_back([&] {
        const Workers::Runner runner(*options.workers);
        ++runners;
        while (!ends) std::this_thread::yield();
      });
    }
    while (runners < 3) std::this_thread::yield();
    EXPECT_TRUE(options.workers->is_crowded());
    EXPECT_EQ(run(), calm);
    EXPECT_EQ(run(), calm);
    ends = true;
    for (std::thread& other : others) other.join();
    EXPECT_EQ(PlanCacheOf(**executable).plans, max_plans == 1 ? 1 : 2);
    EXPECT_EQ(PlanCacheOf(**executable).builds, max_plans == 1 ? 1 : 2);
    EXPECT_EQ(PlanText(**executable), plan);
  }
}

}  // namespace
}  // namespace tenon::plan_cache_test
