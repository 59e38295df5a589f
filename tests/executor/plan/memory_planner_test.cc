#include "executor/plan/layout/memory_planner.h"

#include <random>

#include "gtest/gtest.h"

namespace tenon {
namespace {

uint64_t Alignment(uint64_t bytes) {
  return bytes >= 64 ? 64 : bytes > 4 ? std::bit_ceil(bytes) : 4;
}

void ExpectSound(const std::vector<BufferRequest>& requests, const ArenaLayout& layout) {
  for (size_t i = 0; i < requests.size(); ++i) {
    if (requests[i].bytes == 0) continue;
    EXPECT_EQ(layout.offsets[i] % Alignment(requests[i].bytes), 0u);
    EXPECT_LE(layout.offsets[i] + requests[i].bytes, layout.bytes);
    for (size_t k = 0; k < i; ++k) {
      if (requests[k].bytes == 0 || requests[k].last < requests[i].first ||
          requests[i].last < requests[k].first)
        continue;
      const bool apart = layout.offsets[i] + requests[i].bytes <= layout.offsets[k] ||
                         layout.offsets[k] + requests[k].bytes <= layout.offsets[i];
      ASSERT_TRUE(apart) << i << " and " << k << " overlap";
    }
  }
}

TEST(MemoryPlanner, NothingNeedsNothing) {
  EXPECT_EQ(PlanArena({}).bytes, 0u);
  EXPECT_EQ(PlanArena({{.bytes = 0, .first = 0, .last = 5}}).bytes, 0u);
}

TEST(MemoryPlanner, RandomBuffersNeverOverlap) {
  std::mt19937 random(7);
  for (int round = 0; round < 60; ++round) {
    std::vector<BufferRequest> requests;
    const int n = 1 + static_cast<int>(random() % 120);
    for (int i = 0; i < n; ++i) {
      const int32_t first = static_cast<int32_t>(random() % 100);
      const uint64_t bytes = random() % 3 == 0 ? random() % 65 : random() % 100000;
      requests.push_back({bytes, first, first + static_cast<int32_t>(random() % 20)});
    }
    const ArenaLayout layout = PlanArena(requests);
    ExpectSound(requests, layout);
    EXPECT_GE(layout.bytes + 64 * 8, layout.lower_bound);
  }
}

TEST(MemoryPlanner, ManyBuffersGoThroughTheSweep) {
  std::mt19937 random(3);
  std::vector<BufferRequest> requests;
  for (int32_t i = 0; i < 3000; ++i)
    requests.push_back({64 + random() % 4096, i, i + static_cast<int32_t>(random() % 10)});
  const ArenaLayout layout = PlanArena(requests);
  ExpectSound(requests, layout);
  EXPECT_LE(layout.bytes, layout.lower_bound * 3 / 2);
}

// A residual network: a chain with skips over three layers, sizes halving at each stage.
TEST(MemoryPlanner, StaysNearTheLowerBound) {
  std::vector<BufferRequest> requests;
  for (int32_t i = 0; i < 150; ++i) {
    const uint64_t bytes = uint64_t{3 << 20} >> (i / 40);
    requests.push_back({bytes / (i % 3 == 1 ? 4 : 1), i, i % 3 == 0 ? i + 3 : i + 1});
  }
  const ArenaLayout layout = PlanArena(requests);
  ExpectSound(requests, layout);
  EXPECT_LE(layout.bytes, layout.lower_bound * 105 / 100);
}

TEST(MemoryPlanner, AChainOfScalarsStaysInOneLine) {
  std::vector<BufferRequest> requests;
  for (int32_t i = 0; i < 10000; ++i) requests.push_back({4, i, i + 1});
  EXPECT_EQ(PlanArena(requests).bytes, 64u);
}

}  // namespace
}  // namespace tenon
