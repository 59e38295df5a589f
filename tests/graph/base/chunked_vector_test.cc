#include "graph/base/chunked_vector.h"

#include <memory>

#include "gtest/gtest.h"

namespace tenon {
namespace {

TEST(ChunkedVector, HoldsElementsInOrderAcrossChunks) {
  ChunkedVector<std::unique_ptr<int>> numbers;
  EXPECT_EQ(0u, numbers.size());
  for (int i = 0; i < 5000; ++i) {
    numbers.push_back(std::make_unique<int>(i));
    ASSERT_EQ(static_cast<size_t>(i) + 1, numbers.size());
  }
  for (int i = 0; i < 5000; ++i) ASSERT_EQ(i, *numbers[i]);
}

TEST(ChunkedVector, LargeArraysDoNotMove) {
  ChunkedVector<int> numbers;
  for (int i = 0; i < 1025; ++i) numbers.push_back(i);
  const int* const first = &numbers[0];
  const int* const second_chunk = &numbers[1024];
  for (int i = 1025; i < 2048; ++i) numbers.push_back(i);
  EXPECT_EQ(first, &numbers[0]);
  EXPECT_EQ(second_chunk, &numbers[1024]);
}

TEST(ChunkedVector, ACopyGrowsOnItsOwn) {
  ChunkedVector<int> numbers;
  for (int i = 0; i < 1500; ++i) numbers.push_back(i);
  ChunkedVector<int> copy = numbers;
  for (int i = 1500; i < 3000; ++i) copy.push_back(i);
  EXPECT_EQ(1500u, numbers.size());
  for (int i = 0; i < 3000; ++i) ASSERT_EQ(i, copy[i]);
}

}  // namespace
}  // namespace tenon
