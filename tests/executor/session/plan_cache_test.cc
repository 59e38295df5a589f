#include "executor/session/plan_cache.h"

#include <limits>

#include "executor/run/slow_steps.h"
#include "gtest/gtest.h"
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
    cache.Add(Feed(n), PlanWith(1000), &dropped);
    EXPECT_FALSE(dropped);
  }
  EXPECT_NE(cache.Find(Feed(1)), nullptr);
  cache.Add(Feed(3), PlanWith(1000), &dropped);
  EXPECT_TRUE(dropped);
  EXPECT_EQ(cache.Find(Feed(2)), nullptr);
  EXPECT_NE(cache.Find(Feed(1)), nullptr);
  // Two plans go for one; a plan that is larger than the limit stays until the next one comes.
  cache.Add(Feed(4), PlanWith(5000), &dropped);
  EXPECT_TRUE(dropped);
  EXPECT_EQ(cache.size(), 1);
  EXPECT_NE(cache.Find(Feed(4)), nullptr);
  cache.Add(Feed(5), PlanWith(1), &dropped);
  EXPECT_TRUE(dropped);
  EXPECT_EQ(cache.Find(Feed(4)), nullptr);
  cache.Clear();
  cache.Add(Feed(6), PlanWith(2500), &dropped);
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

}  // namespace
}  // namespace tenon::plan_cache_test
