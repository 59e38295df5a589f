// The memory of tensor arrays.
#include "plugin/cpu/containers/lists/tensor_array.h"

#include <gtest/gtest.h>
#include <malloc.h>

namespace tenon::cpu {
namespace {

size_t HeapBytes() {
  const struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

// One number in a graph is the size: what it asks for is not doubled.
TEST(TensorArray, TakesRoomForNoMoreThanItsFirstSize) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "sanitizers have the heap for themselves";
#endif
  constexpr int64_t kSize = 1 << 16;
  TensorArray::Options options;
  options.dtype = DataType::kFloat;
  auto array = ObjectRef<TensorArray>::Make("a", options);
  const size_t before = HeapBytes();
  ASSERT_TRUE(array->Resize(kSize).ok());
  const size_t first = HeapBytes();
  ASSERT_TRUE(array->Resize(2 * kSize).ok());
  const size_t second = HeapBytes();
  EXPECT_GT(first, before);
  EXPECT_GT(second - first, (first - before) / 2);
}

TEST(TensorArray, StillGrowsWhereItsGradientCannotBe) {
  TensorArray::Options options;
  options.dtype = DataType::kFloat;
  options.dynamic_size = true;
  auto array = ObjectRef<TensorArray>::Make("a", options);
  const int64_t half = int64_t{1} << 31;
  ASSERT_TRUE(array->Write(0, Tensor::Of<float>(DataType::kFloat, {1, 2, 3, 4}, {4})).ok());
  EXPECT_FALSE(array->Gradient("g", Shape({half, half})).ok());
  EXPECT_TRUE(array->dynamic_size());
  ASSERT_TRUE(array->Gradient("g", Shape({2})).ok());
  EXPECT_FALSE(array->dynamic_size());
}

TEST(TensorArray, HasABoundOfElements) {
  auto array = ObjectRef<TensorArray>::Make("a", TensorArray::Options());
  EXPECT_EQ(array->Resize((int64_t{1} << 24) + 1).code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(array->Resize(-1).code(), absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace tenon::cpu
