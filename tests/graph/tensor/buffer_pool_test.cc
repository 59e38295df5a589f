#include "graph/tensor/buffer_pool.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "graph/tensor/tensor.h"

namespace tenon {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kKeeps = false;
#else
constexpr bool kKeeps = true;
#endif

constexpr size_t kMegabyte = size_t{1} << 20;

TEST(PooledCapacity, IsOneOfFourSizesPerPowerOfTwo) {
  EXPECT_EQ(PooledCapacity(0), kTensorAlignment);
  EXPECT_EQ(PooledCapacity(1), kTensorAlignment);
  EXPECT_EQ(PooledCapacity(64), 64);
  EXPECT_EQ(PooledCapacity(65), 128);
  EXPECT_EQ(PooledCapacity(7 * 64), 7 * 64);
  EXPECT_EQ(PooledCapacity(1024), 1024);
  EXPECT_EQ(PooledCapacity(1025), 1280);
  EXPECT_EQ(PooledCapacity(1281), 1536);
  EXPECT_EQ(PooledCapacity(1537), 1792);
  EXPECT_EQ(PooledCapacity(1793), 2048);
  EXPECT_EQ(PooledCapacity(8 * kMegabyte), 8 * kMegabyte);
  EXPECT_EQ(PooledCapacity(8 * kMegabyte + 1), 8 * kMegabyte + kTensorAlignment);
}

TEST(PooledCapacity, HoldsTheBytesAndIsItsOwn) {
  for (size_t bytes = 1; bytes < 20 * kMegabyte; bytes += bytes / 3 + 1) {
    const size_t capacity = PooledCapacity(bytes);
    EXPECT_GE(capacity, bytes);
    EXPECT_LE(capacity, bytes + bytes / 4 + kTensorAlignment);
    EXPECT_EQ(capacity % kTensorAlignment, 0) << bytes;
    EXPECT_EQ(PooledCapacity(capacity), capacity) << bytes;
  }
}

// What earlier tests of the process left behind.
void Empty(size_t capacity) {
  while (Buffer* const buffer = TakeFromPool(capacity)) Buffer::Free(buffer);
}

TEST(BufferPool, GivesAThreadItsBufferBack) {
  const size_t capacity = PooledCapacity(3000);
  Empty(capacity);
  Empty(capacity + 1024);
  Buffer* const buffer = Buffer::Allocate(3000);
  EXPECT_EQ(GiveToPool(buffer, capacity), kKeeps);
  if (!kKeeps) {
    EXPECT_EQ(TakeFromPool(capacity), nullptr);
    return Buffer::Free(buffer);
  }
  EXPECT_EQ(TakeFromPool(capacity + 1024), nullptr) << "another size";
  EXPECT_EQ(TakeFromPool(capacity), buffer);
  EXPECT_EQ(TakeFromPool(capacity), nullptr) << "it is taken";
  Buffer::Free(buffer);
}

TEST(BufferPool, ServesTensorsOfAnyTypeAndSizeOfTheClass) {
  const auto first = [](DataType type, int64_t n) {
    return (*Tensor::Allocate(type, Shape({n}))).data();
  };
  const void* const data = first(DataType::kFloat, 5000);
  if (kKeeps) EXPECT_EQ(first(DataType::kDouble, 2510), data);
  // Strings, which are objects, leave nothing behind.
  {
    const Tensor strings = *Tensor::Allocate(DataType::kString, Shape({850}));
    if (kKeeps) EXPECT_EQ(strings.data(), data);
    for (int64_t i = 0; i < 850; ++i) strings.SetString(i, "longer than what lies in the element");
  }
  const Tensor again = *Tensor::Allocate(DataType::kString, Shape({845}));
  EXPECT_EQ(again.StringAt(844), "");
}

// What is too large for one thread's own goes from one to another.
TEST(BufferPool, PassesLargeBuffersBetweenThreads) {
  const size_t capacity = PooledCapacity(3 * kMegabyte);
  Buffer* const buffer = Buffer::Allocate(capacity);
  bool kept = false;
  std::thread([&] { kept = GiveToPool(buffer, capacity); }).join();
  EXPECT_EQ(kept, kKeeps);
  EXPECT_EQ(TakeFromPool(capacity), kKeeps ? buffer : nullptr);
  Buffer::Free(buffer);
}

// A small one stays with its thread, and ends with it.
TEST(BufferPool, KeepsSmallBuffersApart) {
  const size_t capacity = PooledCapacity(20000);
  Buffer* const buffer = Buffer::Allocate(20000);
  if (!GiveToPool(buffer, capacity)) return Buffer::Free(buffer);
  Buffer* elsewhere = buffer;
  std::thread([&] { elsewhere = TakeFromPool(capacity); }).join();
  EXPECT_EQ(elsewhere, nullptr);
  EXPECT_EQ(TakeFromPool(capacity), buffer);
  Buffer::Free(buffer);
}

// How many buffers of this capacity the pool keeps.
size_t NumKept(size_t capacity) {
  std::vector<Buffer*> taken;
  while (Buffer* const buffer = TakeFromPool(capacity)) taken.push_back(buffer);
  for (Buffer* const buffer : taken) GiveToPool(buffer, capacity);
  return taken.size();
}

TEST(BufferPool, KeepsNoMoreThanItsBound) {
  if (!kKeeps) GTEST_SKIP() << "nothing is kept";
  const size_t capacity = PooledCapacity(5 * kMegabyte);
  std::vector<Buffer*> buffers;
  for (int i = 0; i < 20; ++i) buffers.push_back(Buffer::Allocate(capacity));
  for (Buffer* const buffer : buffers) EXPECT_TRUE(GiveToPool(buffer, capacity));
  const size_t kept = NumKept(capacity);
  EXPECT_LE(kept * capacity, 64 * kMegabyte);
  EXPECT_GE(kept, 8) << "whatever else lies there";

  Buffer* const large = Buffer::Allocate(8 * kMegabyte + 1);
  EXPECT_FALSE(GiveToPool(large, PooledCapacity(8 * kMegabyte + 1)));
  Buffer::Free(large);
}

// Batches of many sizes, one at a time, leave little more than the largest one.
TEST(BufferPool, FreesWhatItHasKeptLongest) {
  if (!kKeeps) GTEST_SKIP() << "nothing is kept";
  for (int i = 0; i < 10'000; ++i)
    Tensor::Allocate(DataType::kInt8, Shape({1 << 19})).IgnoreError();
  const auto sweep = [](size_t first) {
    for (size_t bytes = first; bytes <= 4 * kMegabyte; bytes += kMegabyte / 4)
      Tensor::Allocate(DataType::kInt8, Shape({static_cast<int64_t>(bytes)})).IgnoreError();
  };
  sweep(kMegabyte / 2);
  EXPECT_EQ(NumKept(PooledCapacity(kMegabyte / 2)), 0u);
  EXPECT_EQ(NumKept(PooledCapacity(4 * kMegabyte)), 1u) << "the last one";
}

}  // namespace
}  // namespace tenon
