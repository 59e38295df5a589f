#include "plugin/device/bfc_allocator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <random>
#include <set>
#include <thread>
#include <vector>

#include "absl/synchronization/mutex.h"
#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"

namespace tenon {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Regions from the heap, up to a limit of its own.
class HeapSource : public RegionSource {
 public:
  explicit HeapSource(size_t available = SIZE_MAX) : available_(available) {}
  ~HeapSource() override { EXPECT_TRUE(live_.empty()); }
  absl::StatusOr<void*> AllocateRegion(size_t bytes) override {
    asked_.push_back(bytes);
    if (bytes > available_) return nullptr;
    available_ -= bytes;
    void* data = std::aligned_alloc(256, bytes);
    live_.insert(data);
    return data;
  }
  void FreeRegion(void* data, size_t) override {
    EXPECT_EQ(live_.erase(data), 1u);
    std::free(data);
  }
  const std::vector<size_t>& asked() const { return asked_; }

 private:
  size_t available_;
  std::vector<size_t> asked_;
  std::set<void*> live_;
};

constexpr size_t kMiB = size_t{1} << 20;

TEST(BfcAllocator, RegionsDouble) {
  HeapSource source;
  BfcAllocator allocator(&source, {64 * kMiB, true, "dev"});
  std::vector<BufferRef> held;
  for (int i = 0; i < 12; ++i) held.push_back(*allocator.Allocate(kMiB));
  EXPECT_THAT(source.asked(), ElementsAre(2 * kMiB, 4 * kMiB, 8 * kMiB));
  EXPECT_EQ(allocator.stats().bytes_in_use, static_cast<int64_t>(12 * kMiB));
}

TEST(BfcAllocator, BigRequestGetsABigRegion) {
  HeapSource source;
  BfcAllocator allocator(&source, {64 * kMiB, true, "dev"});
  EXPECT_TRUE(allocator.Allocate(5 * kMiB).ok());
  EXPECT_THAT(source.asked(), ElementsAre(8 * kMiB));
}

TEST(BfcAllocator, WithoutGrowthOneRegion) {
  HeapSource source;
  BfcAllocator allocator(&source, {10 * kMiB, false, "dev"});
  BufferRef a = *allocator.Allocate(1);
  BufferRef b = *allocator.Allocate(1);
  EXPECT_EQ(static_cast<char*>(b->data()) - static_cast<char*>(a->data()), 256);
  EXPECT_THAT(source.asked(), ElementsAre(10 * kMiB));
}

TEST(BfcAllocator, FreedNeighboursMerge) {
  HeapSource source;
  BfcAllocator allocator(&source, {2 * kMiB, true, "dev"});
  std::vector<BufferRef> held;
  for (int i = 0; i < 4; ++i) held.push_back(*allocator.Allocate(kMiB / 2));
  EXPECT_FALSE(allocator.Allocate(256).ok());
  for (const int i : {1, 3, 2, 0}) held[i] = BufferRef();
  EXPECT_TRUE(allocator.Allocate(2 * kMiB).ok());
  EXPECT_EQ(allocator.stats().num_regions, 1);
}

TEST(BfcAllocator, ExhaustionIsAStatusAndNoLoop) {
  HeapSource source(0);
  BfcAllocator allocator(&source, {64 * kMiB, true, "/device:APU:0"});
  const absl::Status status = allocator.Allocate(1000).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(status.message(), HasSubstr("/device:APU:0"));
  EXPECT_THAT(status.message(), HasSubstr("1000 bytes"));
  EXPECT_LE(source.asked().size(), 2u);
  EXPECT_EQ(allocator.Allocate(SIZE_MAX).status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(allocator.Allocate(65 * kMiB).status().code(), absl::StatusCode::kResourceExhausted);
}

TEST(BfcAllocator, LessMemoryThanARegionStillServes) {
  HeapSource source(kMiB);
  BfcAllocator allocator(&source, {64 * kMiB, true, "dev"});
  EXPECT_TRUE(allocator.Allocate(1000).ok());
}

TEST(BfcAllocator, EmptyRequest) {
  HeapSource source;
  BfcAllocator allocator(&source, {kMiB, true, "dev"});
  EXPECT_EQ((*allocator.Allocate(0))->bytes(), 0u);
  EXPECT_TRUE(source.asked().empty());
}

TEST(BfcAllocator, BuffersMayOutliveIt) {
  HeapSource source;
  auto allocator = std::make_unique<BfcAllocator>(&source, BfcOptions{4 * kMiB, true, "dev"});
  BufferRef late = *allocator->Allocate(100);
  allocator.reset();
}

// The memory that the watch looks after is gone with the allocator.
TEST(BfcAllocator, BuffersThatOutliveItAreNotWatched) {
  class Counts : public ChunkWatch {
   public:
    explicit Counts(int* calls) : calls_(calls) {}
    void Given(void*, size_t) override { ++*calls_; }
    void Returned(void*) override { ++*calls_; }
    void Rested(void*) override { ++*calls_; }
    bool IsFree() const override { return ++*calls_ > 0; }

   private:
    int* const calls_;
  };
  int calls = 0;
  HeapSource source;
  BfcOptions options{4 * kMiB, true, "dev", 256};
  options.watch = std::make_shared<Counts>(&calls);
  const std::weak_ptr<ChunkWatch> watch = options.watch;
  auto allocator = std::make_unique<BfcAllocator>(&source, std::move(options));
  BufferRef late = *allocator->Allocate(100);
  allocator.reset();
  EXPECT_FALSE(watch.expired());
  late = BufferRef();
  EXPECT_TRUE(watch.expired());
  EXPECT_EQ(calls, 1);
}

// The allocator's end waits for the calls that another thread makes as it gives a chunk back.
TEST(BfcAllocator, TheWatchHearsNothingAfterTheEnd) {
  class Slow : public ChunkWatch {
   public:
    void Given(void*, size_t) override {}
    void Returned(void*) override {
      begun.Notify();
      may_end.WaitForNotification();
      EXPECT_FALSE(ended);
    }
    void Rested(void*) override {
      EXPECT_FALSE(ended);
      rested = true;
    }
    bool IsFree() const override { return true; }

    absl::Notification begun, may_end;
    std::atomic<bool> ended = false, rested = false;
  };
  HeapSource source;
  const auto watch = std::make_shared<Slow>();
  BfcOptions options{4 * kMiB, true, "dev", 256};
  options.watch = watch;
  auto allocator = std::make_unique<BfcAllocator>(&source, std::move(options));
  BufferRef large = *allocator->Allocate(kMiB);
  std::thread giver([&] { large = BufferRef(); });
  watch->begun.WaitForNotification();
  std::thread ender([&] {
    allocator.reset();
    watch->ended = true;
  });
  absl::SleepFor(absl::Milliseconds(50));
  EXPECT_FALSE(watch->ended);
  watch->may_end.Notify();
  giver.join();
  ender.join();
  EXPECT_TRUE(watch->rested);
}

// One thread gives back a chunk that may rest. Another thread gives back one that is too large to
// rest, and so ends the rests of all before.
TEST(BfcAllocator, NoRestEndsBeforeTheWatchKnowsOfIt) {
  class Slow : public ChunkWatch {
   public:
    void Given(void*, size_t) override {}
    void Returned(void* data) override {
      if (data == slow) {
        begun.Notify();
        may_end.WaitForNotification();
      }
      absl::MutexLock lock(&mutex);
      known.insert(data);
    }
    void Rested(void* data) override {
      absl::MutexLock lock(&mutex);
      EXPECT_EQ(known.count(data), 1u);
    }
    bool IsFree() const override { return true; }

    void* slow = nullptr;
    absl::Notification begun, may_end;
    absl::Mutex mutex;
    std::set<void*> known;
  };
  HeapSource source;
  const auto watch = std::make_shared<Slow>();
  BfcOptions options{4 * kMiB, true, "dev", 256};
  options.watch = watch;
  BfcAllocator allocator(&source, std::move(options));
  BufferRef small = *allocator.Allocate(1000), large = *allocator.Allocate(kMiB);
  watch->slow = small->data();
  std::thread thread([&] { small = BufferRef(); });
  watch->begun.WaitForNotification();
  large = BufferRef();
  watch->may_end.Notify();
  thread.join();
}

// Many sizes from several threads: no two live chunks overlap.
TEST(BfcAllocator, ChunksAreDisjoint) {
  HeapSource source;
  BfcAllocator allocator(&source, {64 * kMiB, true, "dev"});
  const auto work = [&allocator](int seed) {
    std::mt19937 random(seed);
    std::vector<BufferRef> held(32);
    for (int i = 0; i < 2000; ++i) {
      BufferRef& slot = held[random() % held.size()];
      if (slot) {
        const auto* bytes = static_cast<unsigned char*>(slot->data());
        for (size_t k = 0; k < slot->bytes(); k += 97)
          ASSERT_EQ(bytes[k], static_cast<unsigned char>(seed * 32 + (&slot - held.data())));
      }
      slot = *allocator.Allocate(1 + random() % 5000);
      ASSERT_EQ(reinterpret_cast<uintptr_t>(slot->data()) % 256, 0u);
      std::memset(slot->data(), seed * 32 + static_cast<int>(&slot - held.data()), slot->bytes());
    }
  };
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) threads.emplace_back(work, t);
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(allocator.stats().bytes_in_use, 0);
}

}  // namespace
}  // namespace tenon
