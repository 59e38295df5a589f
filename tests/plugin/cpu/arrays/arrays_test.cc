// What arrays, their largest elements and generators do where no answer of TensorFlow's tells: ops
// that it no longer runs, refusals, and numbers that nobody can foresee.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "tests/plugin/cpu/float_op_util.h"

namespace tenon::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const std::string kFloat = attr::Type(DataType::kFloat);

absl::StatusOr<std::vector<Tensor>> TileGrad(const Tensor& tiles,
                                             const std::vector<int32_t>& multiples) {
  return RunCpuKernel("TileGrad", {{"T", kFloat}}, {tiles, Int32s(multiples)});
}

TEST(TileGrad, SumsTheTiles) {
  const Tensor tiles = Floats(Shape({2, 6}), {1, 2, 3, 4, 5, 6, 10, 20, 30, 40, 50, 60});
  const auto columns = TileGrad(tiles, {1, 3});
  ASSERT_TRUE(columns.ok()) << columns.status();
  EXPECT_THAT(Values((*columns)[0]), ElementsAre(9, 12, 90, 120));
  const auto both = TileGrad(tiles, {2, 2});
  ASSERT_TRUE(both.ok()) << both.status();
  EXPECT_EQ((*both)[0].shape(), Shape({1, 3}));
  EXPECT_THAT(Values((*both)[0]), ElementsAre(55, 77, 99));
}

TEST(TileGrad, RefusesWhatIsNotMadeOfTiles) {
  const Tensor tiles = Floats(Shape({4}), {1, 2, 3, 4});
  for (const std::vector<int32_t>& multiples : {std::vector<int32_t>{3}, {0}, {-1}, {2, 2}}) {
    EXPECT_EQ(TileGrad(tiles, multiples).status().code(), absl::StatusCode::kInvalidArgument);
  }
  EXPECT_THAT(TileGrad(tiles, {3}).status().message(), HasSubstr("dimension 0 of 4"));
}

TEST(TopK, TakesItsCountFromAnAttribute) {
  const auto top = RunCpuKernel("TopK", {{"T", kFloat}, {"k", attr::Int(2)}},
                                {Floats(Shape({2, 3}), {1, 3, 2, 6, 5, 4})});
  ASSERT_TRUE(top.ok()) << top.status();
  EXPECT_THAT(Values((*top)[0]), ElementsAre(3, 2, 6, 5));
  EXPECT_EQ((*top)[1].IntAt(1), 2);
  EXPECT_EQ(
      RunCpuKernel("TopK", {{"T", kFloat}, {"k", attr::Int(4)}}, {Floats(Shape({3}), {1, 3, 2})})
          .status()
          .code(),
      absl::StatusCode::kInvalidArgument);
}

TEST(ApproxTopK, SaysWhatIsNotBuilt) {
  const Tensor input = Floats(Shape({2, 3}), {1, 3, 2, 6, 5, 4});
  for (const Attrs& other :
       {Attrs{{"is_max_k", attr::Bool(false)}}, Attrs{{"reduction_dimension", attr::Int(0)}}}) {
    Attrs attrs = other;
    attrs["T"] = kFloat;
    attrs["k"] = attr::Int(1);
    EXPECT_EQ(RunCpuKernel("ApproxTopK", attrs, {input}).status().code(),
              absl::StatusCode::kUnimplemented);
  }
}

TEST(ParallelConcatUpdate, CountsRowsFromEitherEnd) {
  const Tensor value = Floats(Shape({3, 1}), {1, 2, 3}), row = Floats(Shape({1, 1}), {9});
  const auto update = [&](int64_t loc) {
    return RunCpuKernel("_ParallelConcatUpdate", {{"T", kFloat}, {"loc", attr::Int(loc)}},
                        {value, row});
  };
  EXPECT_THAT(Values((*update(1))[0]), ElementsAre(1, 9, 3));
  EXPECT_THAT(Values((*update(-1))[0]), ElementsAre(1, 2, 9));
  EXPECT_THAT(update(3).status().message(), HasSubstr("'loc' is 3"));
}

TEST(Scalars, AreNotVectorsOfOne) {
  const Tensor one = Floats(Shape(), {1}), ones = Floats(Shape({1}), {1});
  const Tensor matrix = Floats(Shape({2, 3}), {1, 2, 3, 4, 5, 6});
  const Tensor axis = Int32s({0}), three = Tensor::Of<int32_t>(DataType::kInt32, {3}, Shape());
  struct Case {
    const char* op;
    Attrs attrs;
    std::vector<Tensor> inputs;
  };
  const Attrs ints = {{"T", kFloat}, {"Tidx", attr::Type(DataType::kInt32)}};
  const Case cases[] = {
      {"LinSpace", ints, {ones, one, three}},
      {"LinSpace", ints, {one, one, Int32s({3})}},
      {"Split", {{"T", kFloat}, {"num_split", attr::Int(2)}}, {axis, matrix}},
      {"ClipByValue", {{"T", kFloat}}, {matrix, ones, one}},
      {"FakeQuantWithMinMaxVars", {}, {matrix, ones, one}},
      {"Cumsum", ints, {matrix, axis}},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(RunCpuKernel(c.op, c.attrs, c.inputs).status().code(),
              absl::StatusCode::kInvalidArgument)
        << c.op;
  }
}

TEST(ReverseV2, WantsAVectorOfAxes) {
  const Attrs attrs = {{"T", kFloat}, {"Tidx", attr::Type(DataType::kInt32)}};
  const Tensor row = Floats(Shape({2}), {1, 2});
  EXPECT_THAT(Values((*RunCpuKernel("ReverseV2", attrs, {row, Int32s({0})}))[0]),
              ElementsAre(2, 1));
  const Tensor scalar = Tensor::Of<int32_t>(DataType::kInt32, {0}, Shape());
  EXPECT_EQ(RunCpuKernel("ReverseV2", attrs, {row, scalar}).status().code(),
            absl::StatusCode::kInvalidArgument);
}

// 2.7 / 0.1 is 27 in float; in double the float nearest to 0.1 leads to a 28th element.
TEST(Range, CountsFloatsInFloat) {
  const auto range =
      RunCpuKernel("Range", {{"Tidx", kFloat}},
                   {Floats(Shape(), {-1.2f}), Floats(Shape(), {1.5f}), Floats(Shape(), {0.1f})});
  ASSERT_TRUE(range.ok()) << range.status();
  EXPECT_EQ((*range)[0].shape(), Shape({27}));
}

TEST(NonDeterministicInts, AreOthersEachTime) {
  const Attrs attrs = {{"dtype", attr::Type(DataType::kInt64)},
                       {"shape_dtype", attr::Type(DataType::kInt32)}};
  std::set<int64_t> seen;
  for (int run = 0; run < 2; ++run) {
    const auto ints = RunCpuKernel("NonDeterministicInts", attrs, {Int32s({4})});
    ASSERT_TRUE(ints.ok()) << ints.status();
    for (int i = 0; i < 4; ++i) seen.insert((*ints)[0].IntAt(i));
  }
  EXPECT_EQ(seen.size(), 8);
}

}  // namespace
}  // namespace tenon::testing
