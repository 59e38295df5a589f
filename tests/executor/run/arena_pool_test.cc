#include "executor/run/arena_pool.h"

#include <utility>
#include <vector>

#include "gtest/gtest.h"

namespace tenon {
namespace {

constexpr uint64_t kMega = 1 << 20;

void TakeAndReturn(ArenaPool& pool, uint64_t bytes) {
  BufferRef arena = pool.Take(bytes, nullptr);
  ASSERT_TRUE(arena);
  EXPECT_GE(arena->bytes(), bytes);
  pool.Return(std::move(arena));
}

TEST(ArenaPool, PlansOfManySizesShareTheLargestArena) {
  ArenaPool pool;
  for (uint64_t size = 1; size <= 16; ++size) TakeAndReturn(pool, size * kMega);
  for (uint64_t size = 1; size <= 16; ++size) TakeAndReturn(pool, size * kMega);
  EXPECT_EQ(pool.num_idle(), 1u);
  EXPECT_EQ(pool.idle_bytes(), 16 * kMega);
}

TEST(ArenaPool, RunsAtOnceHaveArenasOfTheirOwn) {
  ArenaPool pool;
  BufferRef a = pool.Take(kMega, nullptr), b = pool.Take(kMega, nullptr);
  EXPECT_NE(a->data(), b->data());
  pool.Return(std::move(a));
  pool.Return(std::move(b));
  EXPECT_EQ(pool.num_idle(), 2u);
}

TEST(ArenaPool, AFrameGetsItsLastArenaAgain) {
  ArenaPool pool;
  BufferRef a = pool.Take(kMega, nullptr), b = pool.Take(kMega, nullptr);
  const void* const of_a = a->data();
  pool.Return(std::move(a));
  pool.Return(std::move(b));
  EXPECT_EQ(pool.Take(kMega, of_a)->data(), of_a);
}

TEST(ArenaPool, FreesWhatNoRunOfAWindowNeeds) {
  ArenaPool pool;
  std::vector<BufferRef> at_once;
  for (int i = 0; i < 3; ++i) at_once.push_back(pool.Take(16 * kMega, nullptr));
  for (BufferRef& arena : at_once) pool.Return(std::move(arena));
  for (int64_t i = 0; i < 2 * ArenaPool::kWindow; ++i) TakeAndReturn(pool, 16 * kMega);
  EXPECT_EQ(pool.idle_bytes(), 16 * kMega);
  for (int64_t i = 0; i < 2 * ArenaPool::kWindow; ++i) TakeAndReturn(pool, kMega);
  EXPECT_EQ(pool.idle_bytes(), kMega);
}

TEST(ArenaPool, MoreThanThereIsGivesNothing) {
  ArenaPool pool;
  EXPECT_FALSE(pool.Take(uint64_t{1} << 62, nullptr));
  TakeAndReturn(pool, kMega);
}

}  // namespace
}  // namespace tenon
