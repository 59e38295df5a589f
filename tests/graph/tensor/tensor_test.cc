#include "graph/tensor/tensor.h"

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace tenon {
namespace {

// A tensor over the second byte of a buffer, as a constant in a mapped file may lie.
template <typename T>
Tensor Unaligned(DataType dtype, const std::vector<T>& values, std::vector<char>* bytes) {
  bytes->resize(values.size() * sizeof(T) + 1);
  std::memcpy(bytes->data() + 1, values.data(), values.size() * sizeof(T));
  return Tensor(dtype, Shape({static_cast<int64_t>(values.size())}),
                BufferRef::Adopt(
                    Buffer::Wrap(bytes->data() + 1, values.size() * sizeof(T), nullptr, nullptr)));
}

TEST(Tensor, IntAtReadsEveryWidthAtAnyAlignment) {
  std::vector<char> bytes;
  EXPECT_EQ(Unaligned<int8_t>(DataType::kInt8, {1, -128}, &bytes).IntAt(1), -128);
  EXPECT_EQ(Unaligned<uint8_t>(DataType::kUint8, {1, 255}, &bytes).IntAt(1), 255);
  EXPECT_EQ(Unaligned<int16_t>(DataType::kInt16, {1, -32768}, &bytes).IntAt(1), -32768);
  EXPECT_EQ(Unaligned<uint16_t>(DataType::kUint16, {1, 65535}, &bytes).IntAt(1), 65535);
  EXPECT_EQ(Unaligned<int32_t>(DataType::kInt32, {1, INT32_MIN}, &bytes).IntAt(1), INT32_MIN);
  EXPECT_EQ(Unaligned<int64_t>(DataType::kInt64, {1, INT64_MIN}, &bytes).IntAt(1), INT64_MIN);
}

TEST(Tensor, ACopyWantsAValue) {
  EXPECT_EQ(Tensor().Copy().status().code(), absl::StatusCode::kInvalidArgument);
  for (const DataType dtype : {DataType::kFloat, DataType::kString, DataType::kVariant}) {
    Tensor taken = *Tensor::Allocate(dtype, Shape({2}));
    const BufferRef buffer = std::move(taken).TakeBuffer();
    EXPECT_EQ(taken.Copy().status().code(), absl::StatusCode::kFailedPrecondition);
    Tensor moved = *Tensor::Allocate(dtype, Shape({2}));
    const Tensor to = std::move(moved);
    EXPECT_EQ(moved.Copy().status().code(), absl::StatusCode::kFailedPrecondition);
    EXPECT_TRUE(to.Copy().ok());
  }
}

TEST(Shape, DimensionsOfZeroHideNoOverflow) {
  constexpr int64_t kHuge = int64_t{1} << 40;
  EXPECT_TRUE(Shape::Make({0, kHuge}).ok());
  for (const Dims& dims : {Dims{kHuge, kHuge}, Dims{0, kHuge, kHuge}, Dims{kHuge, 0, kHuge}}) {
    EXPECT_EQ(Shape::Make(dims).status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_EQ(PartialShape::Make(dims).status().code(), absl::StatusCode::kInvalidArgument);
  }
}

}  // namespace
}  // namespace tenon
