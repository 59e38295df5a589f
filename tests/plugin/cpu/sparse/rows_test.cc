// Sparse tensors that are split into their rows.
#include <gtest/gtest.h>

#include "tests/plugin/cpu/float_op_util.h"
#include "tests/plugin/cpu/kernel_error_util.h"

namespace tenon::testing {
namespace {

// A tensor of this many rows without entries.
std::vector<Tensor> Empty(int64_t rows) {
  return {*Tensor::Allocate(DataType::kInt64, Shape({0, 2})), Floats(Shape({0}), {}),
          Tensor::Of<int64_t>(DataType::kInt64, {rows, 1}, Shape({2}))};
}

TEST(SerializeManySparse, HasABoundOfRows) {
  const Attrs attrs = {{"T", attr::Type(DataType::kFloat)},
                       {"out_type", attr::Type(DataType::kString)}};
  ExpectError(absl::StatusCode::kResourceExhausted, "16777217 sparse tensors at once",
              "SerializeManySparse", attrs, Empty((1 << 24) + 1));
  ExpectError(absl::StatusCode::kInvalidArgument, "-1", "SerializeManySparse", attrs, Empty(-1));
  const auto few = RunCpuKernel("SerializeManySparse", attrs, Empty(3));
  ASSERT_TRUE(few.ok()) << few.status();
  EXPECT_EQ((*few)[0].shape(), Shape({3, 3}));
}

}  // namespace
}  // namespace tenon::testing
