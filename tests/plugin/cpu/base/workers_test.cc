#include "plugin/cpu/base/workers.h"

#include <gtest/gtest.h>
#include <pthread.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <type_traits>
#include <vector>

#include "plugin/kernels/run_limits.h"

namespace tenon {
namespace {

TEST(Workers, CoversEveryItemOnce) {
  Workers workers(4);
  for (int64_t n : {0, 1, 7, 1000, 12345}) {
    std::vector<std::atomic<int>> hits(n);
    workers.ParallelFor(n, 8, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) hits[i].fetch_add(1);
    });
    for (const auto& h : hits) EXPECT_EQ(h.load(), 1);
  }
}

TEST(Workers, SmallLoopsStayInTheCaller) {
  Workers workers(4);
  int calls = 0;
  workers.ParallelFor(8, 8, [&](int64_t begin, int64_t end) {
    ++calls;
    EXPECT_EQ(begin, 0);
    EXPECT_EQ(end, 8);
  });
  EXPECT_EQ(calls, 1);
}

TEST(Workers, ConcurrentAndNestedCallersFinish) {
  Workers workers(3);
  std::atomic<int64_t> sum{0};
  std::vector<std::thread> callers;
  for (int t = 0; t < 3; ++t) {
    callers.emplace_back([&] {
      for (int round = 0; round < 200; ++round) {
        workers.ParallelFor(64, 1, [&](int64_t begin, int64_t end) {
          workers.ParallelFor(end - begin, 1, [&](int64_t b, int64_t e) { sum += e - b; });
        });
      }
    });
  }
  for (std::thread& t : callers) t.join();
  EXPECT_EQ(sum.load(), 3 * 200 * 64);
}

// Each thread is in one tile when the run is cancelled; no other tile begins.
TEST(Workers, ACancelledRunEndsBetweenTiles) {
  for (const int threads : {1, 2, 4}) {
    Workers workers(threads);
    std::atomic<bool> cancelled{false};
    RunLimits limits;
    limits.cancelled = &cancelled;
    const LimitsScope scope(&limits);
    std::atomic<int> begun{0};
    const auto cancel_in_fourth = [&] {
      workers.ParallelFor(6400, 1, [&](int64_t, int64_t) {
        if (begun.fetch_add(1) == 3) cancelled.store(true);
        while (begun.load() > 3 && !cancelled.load()) std::this_thread::yield();
      });
    };
    EXPECT_THROW(cancel_in_fourth(), RunEnded);
    EXPECT_GE(begun.load(), 4);
    EXPECT_LE(begun.load(), 4 + threads);
    const int before = begun.load();
    const auto count = [&] {
      workers.ParallelFor(6400, 1, [&](int64_t, int64_t) { begun.fetch_add(1); });
    };
    EXPECT_THROW(count(), RunEnded) << "it is over";
    EXPECT_EQ(begun.load(), before);
    cancelled.store(false);
    count();
    EXPECT_EQ(begun.load(), before + 64);
  }
}

// The tiles belong to the run, on whatever thread they are.
TEST(Workers, LoopsWithinTilesEndWithTheRun) {
  Workers workers(3);
  std::atomic<bool> cancelled{false};
  RunLimits limits;
  limits.cancelled = &cancelled;
  const LimitsScope scope(&limits);
  std::atomic<int> inner{0};
  EXPECT_THROW(workers.ParallelFor(64, 1,
                                   [&](int64_t, int64_t) {
                                     cancelled.store(true);
                                     workers.ParallelFor(64, 1, [&](int64_t, int64_t) { ++inner; });
                                   }),
               RunEnded);
  EXPECT_EQ(inner.load(), 0);
}

// As many runs as threads leave no place for the pool's: each run keeps to its own thread.
TEST(Workers, RunsTakeThePlacesOfThePoolsThreads) {
  constexpr int kThreads = 3;
  Workers workers(kThreads);
  std::atomic<int> running{0}, others{0}, waiting{0}, met{0};
  std::atomic<bool> over{false};
  std::vector<std::thread> runs;
  for (int t = 0; t < kThreads; ++t) {
    runs.emplace_back([&] {
      const Workers::Runner runner(workers);
      const Workers::Runner nested(workers);
      running.fetch_add(1);
      while (running.load() < kThreads) std::this_thread::yield();
      const std::thread::id here = std::this_thread::get_id();
      for (int round = 0; round < 50; ++round) {
        workers.ParallelFor(64, 1, [&](int64_t, int64_t) {
          if (std::this_thread::get_id() != here) others.fetch_add(1);
        });
      }
      running.fetch_add(1);
      while (running.load() < 2 * kThreads) std::this_thread::yield();
    });
  }
  for (std::thread& t : runs) t.join();
  EXPECT_EQ(others.load(), 0);

  // Runs that wait for something else lend their places: two tiles meet.
  runs.clear();
  for (int t = 0; t < kThreads - 1; ++t) {
    runs.emplace_back([&] {
      const Workers::Runner runner(workers);
      const Pause pause;
      waiting.fetch_add(1);
      while (!over.load()) std::this_thread::yield();
    });
  }
  while (waiting.load() < kThreads - 1) std::this_thread::yield();
  const Workers::Runner runner(workers);
  workers.ParallelFor(2, 1, [&](int64_t, int64_t) {
    met.fetch_add(1);
    while (met.load() < 2) std::this_thread::yield();
  });
  over.store(true);
  for (std::thread& t : runs) t.join();
}

// The next run mostly begins soon: nobody is woken for the time between. A system that is slow to
// start threads may take longer than the moment, hence the tries.
TEST(Workers, ARunThatEndedKeepsItsPlaceForAMoment) {
  Workers workers(2);
  const auto count_ranges = [&] {
    std::atomic<int> ranges{0};
    workers.ParallelFor(64, 1, [&](int64_t, int64_t) { ranges.fetch_add(1); });
    return ranges.load();
  };
  const Workers::Runner runner(workers);
  bool alone = false;
  for (int i = 0; i < 1000 && !alone; ++i) {
    std::thread([&] { const Workers::Runner other(workers); }).join();
    alone = count_ranges() == 1;
  }
  EXPECT_TRUE(alone);
  std::this_thread::sleep_for(std::chrono::milliseconds(2));
  EXPECT_EQ(count_ranges(), 64) << "the place is free again";
}

TEST(Workers, WhatABodyThrowsReachesTheCaller) {
  Workers workers(4);
  for (int64_t bad : {0, 17, 999}) {
    EXPECT_THROW(workers.ParallelFor(1000, 1,
                                     [&](int64_t begin, int64_t end) {
                                       if (begin <= bad && bad < end) throw std::bad_alloc();
                                     }),
                 std::bad_alloc);
    std::atomic<int64_t> sum{0};
    workers.ParallelFor(1000, 1, [&](int64_t begin, int64_t end) { sum += end - begin; });
    EXPECT_EQ(sum.load(), 1000);
  }
}

// Stacks that no address space has room for: the system gives no thread.
TEST(Workers, CountsTheThreadsThatItHas) {
  EXPECT_EQ(Workers(3).threads(), 3);
  EXPECT_EQ(Workers(0).threads(), 1);
  pthread_attr_t before, huge;
  ASSERT_EQ(pthread_getattr_default_np(&before), 0);
  ASSERT_EQ(pthread_attr_init(&huge), 0);
  ASSERT_EQ(pthread_attr_setstacksize(&huge, size_t{1} << 48), 0);
  ASSERT_EQ(pthread_setattr_default_np(&huge), 0);
  Workers workers(3);
  ASSERT_EQ(pthread_setattr_default_np(&before), 0);
  EXPECT_EQ(workers.threads(), 1);
  int64_t sum = 0;
  workers.ParallelFor(1000, 1, [&](int64_t begin, int64_t end) { sum += end - begin; });
  EXPECT_EQ(sum, 1000);
}

static_assert(!std::is_copy_constructible_v<DenormalGuard> &&
              !std::is_copy_assignable_v<DenormalGuard>);

TEST(DenormalGuard, FlushesAndRestores) {
  volatile float tiny = 1e-39f;
  const float before = tiny * 1.0f;
  {
    DenormalGuard guard;
    EXPECT_EQ(tiny * 0.5f, 0.0f);
  }
  EXPECT_EQ(tiny * 1.0f, before);
}

}  // namespace
}  // namespace tenon
