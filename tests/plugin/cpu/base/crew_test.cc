// Crews: threads that work for one run, beside loops.
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <new>
#include <set>
#include <thread>
#include <vector>

#include "plugin/cpu/base/workers.h"
#include "tests/support/watchdog.h"

namespace tenon::crew_test {
namespace {

using testing::Watchdog;

constexpr std::chrono::seconds kLimit{60};

// Pieces of work, each to be done once.
struct Pieces {
  explicit Pieces(int n) : left(n), open(n), hits(n) {}
  // Takes one piece; -1: there is none.
  int Take() {
    int n = left.load();
    while (n > 0 && !left.compare_exchange_weak(n, n - 1)) {
    }
    return n - 1;
  }
  void End(int piece) {
    hits[piece].fetch_add(1);
    open.fetch_sub(1);
  }
  bool done() const { return open.load() == 0; }
  // The help of a crew: takes and ends a piece.
  bool Do(Workers& workers) {
    const int piece = Take();
    if (piece < 0) return false;
    End(piece);
    if (done()) workers.Call(0);
    return true;
  }

  std::atomic<int> left, open;
  std::vector<std::atomic<int>> hits;
};

TEST(Crew, DoesEachPieceOnceAndReturnsWhenAllAreDone) {
  const Watchdog watchdog(kLimit, "pieces");
  for (const int threads : {1, 2, 5}) {
    Workers workers(threads);
    for (const int count : {0, 1, 100}) {
      Pieces pieces(count);
      const auto help = [&] { return pieces.Do(workers); };
      {
        Workers::Crew crew(workers, help);
        workers.Call(threads - 1);
        crew.Work([&] { return pieces.done(); });
      }
      for (const auto& hits : pieces.hits) EXPECT_EQ(hits.load(), 1);
    }
  }
}

// No thread leaves its piece before all have come: they must be in `help` at once.
TEST(Crew, HasAllThreadsInHelpAtOnce) {
  const Watchdog watchdog(kLimit, "threads that meet");
  constexpr int kThreads = 4;
  Workers workers(kThreads);
  ASSERT_EQ(workers.threads(), kThreads);
  for (int round = 0; round < 50; ++round) {
    Pieces pieces(kThreads);
    std::atomic<int> met{0};
    std::mutex mutex;
    std::set<std::thread::id> ids;
    const auto help = [&] {
      const int piece = pieces.Take();
      if (piece < 0) return false;
      met.fetch_add(1);
      while (met.load() < kThreads) std::this_thread::yield();
      {
        const std::lock_guard<std::mutex> lock(mutex);
        ids.insert(std::this_thread::get_id());
      }
      pieces.End(piece);
      if (pieces.done()) workers.Call(0);
      return true;
    };
    Workers::Crew crew(workers, help);
    workers.Call(kThreads - 1);
    crew.Work([&] { return pieces.done(); });
    EXPECT_EQ(ids.size(), static_cast<size_t>(kThreads));
    EXPECT_EQ(ids.count(std::this_thread::get_id()), 1u);
  }
}

// Work that comes when all threads have gone to sleep.
TEST(Crew, WakesSleepers) {
  const Watchdog watchdog(kLimit, "sleepers");
  Workers workers(3);
  for (int round = 0; round < 20; ++round) {
    Pieces pieces(2);
    std::atomic<bool> may_begin{false};
    std::atomic<int> met{0};
    const auto help = [&] {
      if (!may_begin.load()) return false;
      const int piece = pieces.Take();
      if (piece < 0) return false;
      met.fetch_add(1);
      while (met.load() < 2) std::this_thread::yield();
      pieces.End(piece);
      if (pieces.done()) workers.Call(0);
      return true;
    };
    Workers::Crew crew(workers, help);
    std::thread other([&] {
      // Longer than a thread spins. Were it too short, the test would pass without a sleeper.
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
      may_begin.store(true);
      workers.Call(2);
    });
    crew.Work([&] { return pieces.done(); });
    other.join();
    EXPECT_TRUE(pieces.done());
  }
}

// What ends the work of a crew may happen on a thread that is none of it.
TEST(Crew, WakesItsOwnerWhenAnotherThreadIsDone) {
  const Watchdog watchdog(kLimit, "an owner that sleeps");
  for (const int threads : {2, 4}) {
    Workers workers(threads);
    for (int round = 0; round < 20; ++round) {
      std::atomic<bool> done{false};
      const auto help = [] { return false; };
      Workers::Crew crew(workers, help);
      std::thread other([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
        done.store(true);
        workers.Call(0);
      });
      crew.Work([&] { return done.load(); });
      other.join();
    }
  }
}

// Each piece makes the next, as tasks that follow each other do.
TEST(Crew, FollowsAChainOfWork) {
  const Watchdog watchdog(kLimit, "a chain");
  constexpr int kLength = 2000;
  Workers workers(3);
  std::atomic<int> ready{1}, ended{0};
  const auto help = [&] {
    int one = 1;
    if (!ready.compare_exchange_strong(one, 0)) return false;
    if (ended.fetch_add(1) + 1 < kLength) ready.store(1);
    workers.Call(1);
    return true;
  };
  Workers::Crew crew(workers, help);
  crew.Work([&] { return ended.load() >= kLength; });
  EXPECT_EQ(ended.load(), kLength);
}

TEST(Crew, LetsLoopsOfOtherThreadsThrough) {
  const Watchdog watchdog(kLimit, "crews and loops");
  Workers workers(4);
  std::atomic<int64_t> sum{0}, in_pieces{0};
  std::vector<std::thread> callers;
  for (int t = 0; t < 3; ++t) {
    callers.emplace_back([&] {
      for (int round = 0; round < 100; ++round)
        workers.ParallelFor(640, 1, [&](int64_t begin, int64_t end) { sum += end - begin; });
    });
    callers.emplace_back([&] {
      for (int round = 0; round < 30; ++round) {
        Pieces pieces(10);
        const auto help = [&] {
          const int piece = pieces.Take();
          if (piece < 0) return false;
          workers.ParallelFor(128, 1,
                              [&](int64_t begin, int64_t end) { in_pieces += end - begin; });
          pieces.End(piece);
          if (pieces.done()) workers.Call(0);
          return true;
        };
        Workers::Crew crew(workers, help);
        workers.Call(3);
        crew.Work([&] { return pieces.done(); });
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(sum.load(), 3 * 100 * 640);
  EXPECT_EQ(in_pieces.load(), 3 * 30 * 10 * 128);
}

// The pool has places for 64 loops and crews: what finds none runs alone.
TEST(Crew, RunsAloneWhereAllPlacesAreTaken) {
  const Watchdog watchdog(kLimit, "many crews");
  Workers workers(3);
  const auto nothing = [] { return false; };
  std::vector<std::unique_ptr<Workers::Crew>> open;
  for (int i = 0; i < 100; ++i) open.push_back(std::make_unique<Workers::Crew>(workers, nothing));
  for (int round = 0; round < 2; ++round) {
    if (round == 0) {
      int64_t sum = 0;
      const std::thread::id caller = std::this_thread::get_id();
      workers.ParallelFor(1000, 1, [&](int64_t begin, int64_t end) {
        EXPECT_EQ(std::this_thread::get_id(), caller);
        sum += end - begin;
      });
      EXPECT_EQ(sum, 1000);
    }
    Pieces pieces(50);
    const auto help = [&] { return pieces.Do(workers); };
    Workers::Crew crew(workers, help);
    crew.Work([&] { return pieces.done(); });
    for (const auto& hits : pieces.hits) EXPECT_EQ(hits.load(), 1);
    open.clear();
  }
  // All places are free again.
  std::atomic<int64_t> calls{0};
  workers.ParallelFor(1000, 1, [&](int64_t, int64_t) { ++calls; });
  EXPECT_GT(calls.load(), 1);
}

TEST(Crew, ManyLoopsAtOnceCoverAll) {
  const Watchdog watchdog(kLimit, "many loops");
  Workers workers(3);
  constexpr int kCallers = 80;
  std::atomic<int> inside{0};
  std::atomic<int64_t> sum{0};
  std::vector<std::thread> callers;
  for (int t = 0; t < kCallers; ++t) {
    callers.emplace_back([&] {
      std::atomic<bool> first{true};
      workers.ParallelFor(64, 1, [&](int64_t begin, int64_t end) {
        // All loops are open at once: the first tile of each waits for those of the others.
        if (first.exchange(false)) {
          inside.fetch_add(1);
          while (inside.load() < kCallers) std::this_thread::yield();
        }
        sum += end - begin;
      });
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(sum.load(), kCallers * 64);
}

TEST(Crew, WhatALoopThrowsReachesThePieceThatRunsIt) {
  const Watchdog watchdog(kLimit, "exceptions");
  Workers workers(4);
  for (int round = 0; round < 20; ++round) {
    Pieces pieces(16);
    std::atomic<int> caught{0};
    const auto help = [&] {
      const int piece = pieces.Take();
      if (piece < 0) return false;
      try {
        workers.ParallelFor(64, 1, [&](int64_t begin, int64_t) {
          if (piece % 2 == 0 && begin >= 7) throw std::bad_alloc();
        });
      } catch (const std::bad_alloc&) {
        caught.fetch_add(1);
      }
      pieces.End(piece);
      if (pieces.done()) workers.Call(0);
      return true;
    };
    Workers::Crew crew(workers, help);
    workers.Call(3);
    crew.Work([&] { return pieces.done(); });
    EXPECT_EQ(caught.load(), 8);
  }
}

}  // namespace
}  // namespace tenon::crew_test
