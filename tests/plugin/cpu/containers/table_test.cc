// Tables that refuse what they are given, and are as before then.
#include "plugin/cpu/containers/table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "graph/tensor/memory_bound.h"

namespace tenon::cpu {
namespace {

using ::testing::HasSubstr;

Tensor Longs(const Shape& shape, const std::vector<int64_t>& values) {
  return Tensor::Of<int64_t>(DataType::kInt64, values, shape);
}

Table::Options FromLongs(Shape key_shape, bool is_mutable) {
  Table::Options options;
  options.key_type = options.value_type = DataType::kInt64;
  options.key_shape = std::move(key_shape);
  options.is_mutable = is_mutable;
  return options;
}

// Keys and values 0 to count - 1, the values with `more` added.
absl::Status Fill(Table& table, int64_t count, int64_t more = 0) {
  std::vector<int64_t> numbers(count);
  std::iota(numbers.begin(), numbers.end(), 0);
  const Tensor keys = Longs(Shape({count}), numbers);
  for (int64_t& number : numbers) number += more;
  return table.Initialize(keys, Longs(Shape({count}), numbers));
}

TEST(Table, HasAnInitializerOnlyIfItIsFilledOnce) {
  for (const Shape& key : {Shape(), Shape({2})}) {
    auto table = ObjectRef<Table>::Make("t", FromLongs(key, true));
    const Tensor keys =
        key.rank() == 0 ? Longs(Shape({3}), {1, 2, 3}) : Longs(Shape({3, 2}), {1, 2, 3, 4, 5, 6});
    const absl::Status status = table->Initialize(keys, Longs(Shape({3}), {10, 20, 30}));
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr("'t' is mutable"));
    EXPECT_EQ(*table->Size(), 0);
    EXPECT_FALSE(table->filled());
  }
}

TEST(Table, CountsKeysOfSeveralNumbersOnce) {
  auto table = ObjectRef<Table>::Make("t", FromLongs(Shape({2}), false));
  const Tensor keys = Longs(Shape({3, 2}), {1, 2, 3, 4, 5, 6});
  for (int i = 0; i < 2; ++i) {
    const absl::Status status = table->Initialize(keys, Longs(Shape({3}), {10, 20, 30}));
    ASSERT_TRUE(status.ok()) << status;
    EXPECT_EQ(*table->Size(), 3);
  }
}

TEST(Table, IsEmptyAfterItLackedMemory) {
  auto table = ObjectRef<Table>::Make("t", FromLongs(Shape(), false));
  {
    // For keys, values and 16 entries.
    const MemoryBound bound(2 * 800 + 16 * 8);
    EXPECT_EQ(Fill(*table, 100).code(), absl::StatusCode::kResourceExhausted);
  }
  EXPECT_FALSE(table->filled());
  EXPECT_EQ(*table->Size(), 0);
  const absl::Status again = Fill(*table, 100, 1000);
  EXPECT_TRUE(again.ok()) << again;
  EXPECT_EQ(*table->Size(), 100);
}

}  // namespace
}  // namespace tenon::cpu
