// Rows that are chosen, combined and ordered by their numbers: TensorFlow's answers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "tests/plugin/float_op_util.h"

namespace tenon::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const std::string kFloat = attr::Type(DataType::kFloat);
const std::string kInt16 = attr::Type(DataType::kInt16);

Tensor Int16s(const Shape& shape, const std::vector<int16_t>& values) {
  return Tensor::Of<int16_t>(DataType::kInt16, values, shape);
}
Tensor Counting(int n) {
  std::vector<float> values(n);
  for (int i = 0; i < n; ++i) values[i] = static_cast<float>(i);
  return Floats(Shape({n}), values);
}

absl::StatusOr<std::vector<Tensor>> Gathered(const Tensor& params, const Tensor& indices) {
  const Tensor axis = Tensor::Of<int32_t>(DataType::kInt32, {0}, Shape());
  return RunCpuKernel(
      "GatherV2",
      {{"Tparams", kFloat}, {"Tindices", kInt16}, {"Taxis", attr::Type(DataType::kInt32)}},
      {params, indices, axis});
}
absl::StatusOr<std::vector<Tensor>> GatheredPoints(const Tensor& params, const Tensor& indices) {
  return RunCpuKernel("GatherNd", {{"Tparams", kFloat}, {"Tindices", kInt16}}, {params, indices});
}

TEST(Gather, ReadsIndicesOf16Bits) {
  const auto rows = Gathered(Counting(32767), Int16s(Shape({4}), {1, 32766, 2, 0}));
  ASSERT_TRUE(rows.ok()) << rows.status();
  EXPECT_THAT(Values((*rows)[0]), ElementsAre(1, 32766, 2, 0));
  const auto points = GatheredPoints(Counting(32767), Int16s(Shape({2, 1}), {1, 32766}));
  ASSERT_TRUE(points.ok()) << points.status();
  EXPECT_THAT(Values((*points)[0]), ElementsAre(1, 32766));
}

TEST(Gather, RefusesParamsThatItsIndicesCannotName) {
  const auto rows = Gathered(Counting(32768), Int16s(Shape({1}), {0}));
  EXPECT_EQ(rows.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(rows.status().message(), HasSubstr("too large for DT_INT16 indexing"));
  const auto points = GatheredPoints(Counting(32768), Int16s(Shape({1, 1}), {0}));
  EXPECT_EQ(points.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(points.status().message(), HasSubstr("too large for DT_INT16 indexing"));
}

}  // namespace
}  // namespace tenon::testing
