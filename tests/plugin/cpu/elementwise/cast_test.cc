// Casts that would round twice if they went through a type between the two.
#include <gtest/gtest.h>

#include "graph/op_defs/attr_value.h"
#include "tests/plugin/cpu/cpu_kernel_util.h"

namespace tenon::testing {
namespace {

// 17/32 lies midway between 1/2 and 9/16; float has no number between it and the double.
TEST(Cast, RoundsDoubleToFloat8Once) {
  const Tensor x =
      Tensor::Of<double>(DataType::kDouble, {17.0 / 32, 17.0 / 32 + 0x1p-46}, Shape({2}));
  const auto y = RunCpuKernel("Cast",
                              {{"SrcT", attr::Type(DataType::kDouble)},
                               {"DstT", attr::Type(DataType::kFloat8E4m3fn)},
                               {"Truncate", attr::Bool(false)}},
                              {x});
  ASSERT_TRUE(y.ok()) << y.status();
  const auto* bits = static_cast<const uint8_t*>((*y)[0].data());
  EXPECT_EQ(bits[0], 0x30);  // 1/2
  EXPECT_EQ(bits[1], 0x31);  // 9/16
}

}  // namespace
}  // namespace tenon::testing
