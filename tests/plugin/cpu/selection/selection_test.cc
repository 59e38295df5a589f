// Rows that are chosen, combined and ordered by their numbers: TensorFlow's answers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "tests/plugin/cpu/float_op_util.h"

namespace tenon::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsNan;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

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

TEST(Scatter, MinAndMaxKeepWhatIsNotBeaten) {
  const Tensor held = Floats(Shape({4}), {1, kNan, 3, 4});
  const Tensor places = Tensor::Of<int32_t>(DataType::kInt32, {0, 1, 2, 3}, Shape({4, 1}));
  const Tensor updates = Floats(Shape({4}), {kNan, 1, 2, 5});
  const Attrs attrs = {{"T", kFloat}, {"Tindices", attr::Type(DataType::kInt32)}};
  const auto least = RunCpuKernel("TensorScatterMin", attrs, {held, places, updates});
  ASSERT_TRUE(least.ok()) << least.status();
  EXPECT_THAT(Values((*least)[0]), ElementsAre(1, IsNan(), 2, 4));
  const auto most = RunCpuKernel("TensorScatterMax", attrs, {held, places, updates});
  ASSERT_TRUE(most.ok()) << most.status();
  EXPECT_THAT(Values((*most)[0]), ElementsAre(1, IsNan(), 3, 5));
}

// Where TopKV2 finds the largest.
int32_t Largest(const std::vector<float>& row) {
  const auto top = RunCpuKernel("TopKV2",
                                {{"T", kFloat},
                                 {"Tk", attr::Type(DataType::kInt32)},
                                 {"index_type", attr::Type(DataType::kInt32)}},
                                {Floats(Shape({static_cast<int64_t>(row.size())}), row),
                                 Tensor::Of<int32_t>(DataType::kInt32, {1}, Shape())});
  EXPECT_TRUE(top.ok()) << top.status();
  return top.ok() ? (*top)[1].flat<int32_t>()[0] : -1;
}

TEST(TopK, FindsTheLargestAmongNan) {
  EXPECT_EQ(Largest({1, kNan, 2}), 2);
  EXPECT_EQ(Largest({5, kNan, 1}), 2);
  EXPECT_EQ(Largest({1, 2, kNan}), 0);
  EXPECT_EQ(Largest({kNan, 3, kNan, 4}), 3);
  EXPECT_EQ(Largest({1, 9, 3, kNan, 5, 6, 7, kNan}), 1);
  EXPECT_EQ(Largest({1, 9, 3, kNan, 5, 6, 7, kNan, 8}), 1);
  EXPECT_EQ(Largest({1, 9, 3, kNan, 5, 6, 7, kNan, kNan}), 0);
}

}  // namespace
}  // namespace tenon::testing
