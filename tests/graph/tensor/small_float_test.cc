// Half and bfloat16: the functions for loops, the formats described by numbers, and Eigen's types
// say the same.
#include "graph/tensor/small_float.h"

#include <Eigen/Core>
#include <cmath>

#include "gtest/gtest.h"

namespace tenon {
namespace {

// Equal bits, or both NaN.
template <typename T>
bool Same(T a, T b) {
  return (std::isnan(a) && std::isnan(b)) || (a == b && std::signbit(a) == std::signbit(b));
}

TEST(SmallFloat, EveryHalfAndBfloat16IsReadAlike) {
  const SmallFloat half = *SmallFloatOf(DataType::kHalf);
  const SmallFloat bfloat16 = *SmallFloatOf(DataType::kBfloat16);
  for (uint32_t i = 0; i < 0x10000; ++i) {
    const auto bits = static_cast<uint16_t>(i);
    const float h = FloatFromHalf(bits), b = FloatFromBfloat16(bits);
    ASSERT_TRUE(Same<double>(h, half.Decode(bits))) << i;
    ASSERT_TRUE(Same<double>(b, bfloat16.Decode(bits))) << i;
    ASSERT_TRUE(Same(h, static_cast<float>(std::bit_cast<Eigen::half>(bits)))) << i;
    ASSERT_TRUE(Same(b, static_cast<float>(std::bit_cast<Eigen::bfloat16>(bits)))) << i;
  }
}

// Floats that lie where halves and bfloat16 round, overflow and become denormal, of both signs.
TEST(SmallFloat, FloatsAreRoundedAlike) {
  const SmallFloat half = *SmallFloatOf(DataType::kHalf);
  for (uint64_t i = 0; i < uint64_t{1} << 32; i += 0x3ff) {
    const auto f = std::bit_cast<float>(static_cast<uint32_t>(i));
    const uint16_t h = HalfFromFloat(f), b = Bfloat16FromFloat(f);
    if (std::isnan(f)) {
      ASSERT_TRUE(std::isnan(FloatFromHalf(h)) && std::isnan(FloatFromBfloat16(b))) << i;
      continue;
    }
    ASSERT_EQ(h, std::bit_cast<uint16_t>(Eigen::half(f))) << f;
    ASSERT_EQ(b, std::bit_cast<uint16_t>(Eigen::bfloat16(f))) << f;
    ASSERT_EQ(h, half.Encode(f)) << f;
  }
}

}  // namespace
}  // namespace tenon
