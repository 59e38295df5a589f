#include "graph/tensor/memory_bound.h"

#include <cstdint>
#include <new>
#include <string>
#include <string_view>

#include "gtest/gtest.h"

namespace tenon {
namespace {

TEST(MemoryBound, TensorsAndTextsComeOutOfIt) {
  const Shape shape({64});
  const std::string text(1000, 'x');
  {
    const MemoryBound bound(1000);
    EXPECT_TRUE(Tensor::Allocate(DataType::kFloat, shape).ok());
    EXPECT_EQ(MemoryBound::Left(), 1000u - 256u);
    EXPECT_EQ(Tensor::Allocate(DataType::kDouble, Shape({100})).status().code(),
              absl::StatusCode::kResourceExhausted);
    const Tensor strings = Tensor::Allocate(DataType::kString, Shape({2})).value();
    strings.SetString(0, "short");
    EXPECT_THROW(strings.SetString(1, text), std::bad_alloc);
    const MemoryBound inner(1 << 20);
    strings.SetString(1, text);
    EXPECT_EQ(HeldBytes(strings), strings.bytes() + 5 + 1000);
  }
  EXPECT_TRUE(Tensor::Allocate(DataType::kFloat, Shape({1 << 20})).ok());
}

// An error, not the string that was there before.
TEST(SetString, ThrowsWhereThereIsNoMemory) {
  const Tensor strings = Tensor::Allocate(DataType::kString, Shape({1})).value();
  strings.SetString(0, "before");
  const char* const text = "text";
  EXPECT_THROW(strings.SetString(0, std::string_view(text, SIZE_MAX / 2)), std::bad_alloc);
  EXPECT_EQ(strings.StringAt(0), "before");
}

}  // namespace
}  // namespace tenon
