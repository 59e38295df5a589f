#include "executor/run/frame_pool.h"

#include <vector>

#include "executor/run/plan.h"
#include "executor/run/slow_steps.h"
#include "gtest/gtest.h"

namespace tenon {
namespace {

void RunAtOnce(FramePool& pool, const Plan& plan, int runs) {
  std::vector<std::unique_ptr<Frame>> frames;
  for (int i = 0; i < runs; ++i) {
    absl::StatusOr<std::unique_ptr<Frame>> frame = pool.Take(plan);
    ASSERT_TRUE(frame.ok()) << frame.status();
    frames.push_back(*std::move(frame));
  }
  for (std::unique_ptr<Frame>& frame : frames) pool.Return(std::move(frame));
}

TEST(FramePool, KeepsAsManyFramesAsRanAtOnceLately) {
  const Plan plan;
  FramePool pool;
  RunAtOnce(pool, plan, 8);
  EXPECT_EQ(pool.num_idle(), 8u);
  for (int64_t i = 0; i < 2 * FramePool::kWindow; ++i) RunAtOnce(pool, plan, 1);
  EXPECT_EQ(pool.num_idle(), 1u);
}

TEST(FramePool, KeepsWhatSomeRunsNeed) {
  const Plan plan;
  FramePool pool;
  for (int64_t i = 0; i < 3 * FramePool::kWindow; ++i) RunAtOnce(pool, plan, i % 100 == 0 ? 4 : 1);
  EXPECT_EQ(pool.num_idle(), 4u);
}

TEST(FramePool, UsesTheFrameThatWasUsedLast) {
  const Plan plan;
  FramePool pool;
  RunAtOnce(pool, plan, 3);
  std::unique_ptr<Frame> frame = *pool.Take(plan);
  const Frame* const last = frame.get();
  pool.Return(std::move(frame));
  frame = *pool.Take(plan);
  EXPECT_EQ(frame.get(), last);
  pool.Return(std::move(frame));
}

}  // namespace
}  // namespace tenon
