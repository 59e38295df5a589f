// Sizes and places that no honest graph has: numbers whose sums and products overflow, empty
// tensors with dimensions that no loop could go over, constants at odd addresses.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "graph/op_defs/attr_value.h"
#include "plugin/cpu/base/tiles.h"
#include "plugin/cpu/base/workers.h"
#include "tests/plugin/cpu/cpu_kernel_util.h"

namespace tenon {
namespace {

using testing::Attrs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::RunCpuKernel;

constexpr int64_t kHuge = int64_t{1} << 40;
const std::string kFloat = attr::Type(DataType::kFloat);
const std::string kInt64 = attr::Type(DataType::kInt64);

Tensor Longs(const Shape& shape, const std::vector<int64_t>& values) {
  return Tensor::Of<int64_t>(DataType::kInt64, values, shape);
}
Tensor Longs(const std::vector<int64_t>& values) {
  return Longs(Shape({static_cast<int64_t>(values.size())}), values);
}
Tensor Floats(const std::vector<float>& values) {
  return Tensor::Of<float>(DataType::kFloat, values, Shape({static_cast<int64_t>(values.size())}));
}
Tensor Texts(const std::vector<std::string>& values) {
  Tensor t = *Tensor::Allocate(DataType::kString, Shape({static_cast<int64_t>(values.size())}));
  for (size_t i = 0; i < values.size(); ++i) t.SetString(static_cast<int64_t>(i), values[i]);
  return t;
}
Tensor Empty(const Shape& shape) { return *Tensor::Allocate(DataType::kFloat, shape); }

// A scalar at an odd address, as a constant in a mapped file may lie.
Tensor OddScalar(int16_t value, std::vector<char>* bytes) {
  bytes->resize(sizeof(value) + 1);
  std::memcpy(bytes->data() + 1, &value, sizeof(value));
  return Tensor(DataType::kInt16, Shape(),
                BufferRef::Adopt(Buffer::Wrap(bytes->data() + 1, sizeof(value), nullptr, nullptr)));
}

TEST(OddConstants, AreReadAtTheirPlace) {
  std::vector<char> bytes;
  const Tensor x = Floats({3, 1, 4, 1, 5});
  const auto top = RunCpuKernel("TopKV2", {{"T", kFloat}, {"Tk", attr::Type(DataType::kInt16)}},
                                {x, OddScalar(2, &bytes)});
  ASSERT_TRUE(top.ok()) << top.status();
  EXPECT_THAT(absl::MakeSpan((*top)[0].flat<float>(), 2), ElementsAre(5, 4));
  const auto largest =
      RunCpuKernel("ArgMax", {{"T", kFloat}, {"Tidx", attr::Type(DataType::kInt16)}},
                   {x, OddScalar(-1, &bytes)});
  ASSERT_TRUE(largest.ok()) << largest.status();
  EXPECT_EQ((*largest)[0].flat<int64_t>()[0], 4);
}

TEST(SmallConstants, AreSizes) {
  const Tensor sizes = Tensor::Of<int8_t>(DataType::kInt8, {3, -1}, Shape({2}));
  const auto parts = RunCpuKernel(
      "SplitV", {{"T", kFloat}, {"Tlen", attr::Type(DataType::kInt8)}, {"num_split", attr::Int(2)}},
      {Floats({3, 1, 4, 1, 5}), sizes, Tensor::Of<int32_t>(DataType::kInt32, {0}, Shape())});
  ASSERT_TRUE(parts.ok()) << parts.status();
  EXPECT_THAT(absl::MakeSpan((*parts)[0].flat<float>(), 3), ElementsAre(3, 1, 4));
  EXPECT_THAT(absl::MakeSpan((*parts)[1].flat<float>(), 2), ElementsAre(1, 5));
}

TEST(HugeNumbers, DoNotOverflow) {
  const Tensor axis = Tensor::Of<int32_t>(DataType::kInt32, {0}, Shape());
  const Tensor long_shape = Longs({INT64_MAX});
  EXPECT_EQ(RunCpuKernel("ConcatOffset", {{"N", attr::Int(2)}, {"shape_type", kInt64}},
                         {axis, long_shape, long_shape})
                .status()
                .code(),
            absl::StatusCode::kInvalidArgument);
  const auto slice = RunCpuKernel("StridedSlice", {{"T", kFloat}, {"Index", kInt64}},
                                  {Floats({7, 8, 9}), Longs({1}), Longs({3}), Longs({INT64_MAX})});
  ASSERT_TRUE(slice.ok()) << slice.status();
  EXPECT_THAT(absl::MakeSpan((*slice)[0].flat<float>(), (*slice)[0].num_elements()),
              ElementsAre(8));
  EXPECT_EQ(RunCpuKernel("SpaceToBatchND",
                         {{"T", kFloat}, {"Tblock_shape", kInt64}, {"Tpaddings", kInt64}},
                         {Floats({1, 2}), Longs({INT64_MAX}), Longs(Shape({1, 2}), {INT64_MAX, 1})})
                .status()
                .code(),
            absl::StatusCode::kInvalidArgument);
}

TEST(DepthToSpace, RefusesHugeBlocks) {
  const auto code = [](const char* op, const Shape& shape, int64_t block) {
    return RunCpuKernel(op,
                        {{"T", kFloat},
                         {"block_size", attr::Int(block)},
                         {"data_format", attr::String("NHWC")}},
                        {*Tensor::Allocate(DataType::kFloat, shape)})
        .status()
        .code();
  };
  for (const int64_t block : {int64_t{1} << 32, int64_t{1} << 40}) {
    EXPECT_EQ(code("DepthToSpace", Shape({1, 4, 4, 3}), block), absl::StatusCode::kInvalidArgument);
    EXPECT_EQ(code("SpaceToDepth", Shape({1, 0, 0, 3}), block), absl::StatusCode::kInvalidArgument);
  }
  EXPECT_EQ(code("SpaceToDepth", Shape({1, 0, 0, 3}), INT32_MAX),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(code("DepthToSpace", Shape({1, 4, 4, 4}), 2), absl::StatusCode::kOk);
}

// Only the positions of the block that meet an element are copied.
TEST(SpaceToBatch, TakesNoLongerForHugeBlocks) {
  const int64_t block = 4096;
  const Tensor x = Tensor::Of<uint8_t>(DataType::kUint8, {42}, Shape({1, 1, 1, 1}));
  const auto out = RunCpuKernel(
      "SpaceToBatchND",
      {{"T", attr::Type(DataType::kUint8)}, {"Tblock_shape", kInt64}, {"Tpaddings", kInt64}},
      {x, Longs({block, block}), Longs(Shape({2, 2}), {3, block - 4, 5, block - 6})});
  ASSERT_TRUE(out.ok()) << out.status();
  EXPECT_EQ((*out)[0].shape(), Shape({block * block, 1, 1, 1}));
  const auto* values = (*out)[0].flat<uint8_t>();
  EXPECT_EQ(values[3 * block + 5], 42);
  EXPECT_EQ(std::count(values, values + block * block, 0), block * block - 1);
}

TEST(HugeEmptyTensors, AreNotLoopedOver) {
  const Tensor x = Empty(Shape({kHuge, 0}));
  const auto same = RunCpuKernel("QuantizeAndDequantizeV2", {{"T", kFloat}, {"axis", attr::Int(0)}},
                                 {x, Floats({}), Floats({})});
  ASSERT_TRUE(same.ok()) << same.status();
  EXPECT_EQ((*same)[0].shape(), x.shape());
  const auto gathered = RunCpuKernel("Gather", {{"Tparams", kFloat}, {"Tindices", kInt64}},
                                     {Empty(Shape({5, kHuge, 0})), Longs({3})});
  ASSERT_TRUE(gathered.ok()) << gathered.status();
  const auto sums = RunCpuKernel("UnsortedSegmentSum",
                                 {{"T", kFloat}, {"Tindices", kInt64}, {"Tnumsegments", kInt64}},
                                 {Empty(Shape({1, 0})), Longs({3}), Longs(Shape(), {kHuge})});
  ASSERT_TRUE(sums.ok()) << sums.status();
  EXPECT_EQ((*sums)[0].shape(), Shape({kHuge, 0}));
  const auto bias =
      RunCpuKernel("BiasAddGrad", {{"T", kFloat}, {"data_format", attr::String("NCHW")}},
                   {Empty(Shape({kHuge, 2, 0}))});
  ASSERT_TRUE(bias.ok()) << bias.status();
  EXPECT_THAT(absl::MakeSpan((*bias)[0].flat<float>(), 2), ElementsAre(0, 0));
}

// Nor are tables made of what each of their matrices reads.
TEST(HugeEmptyTensors, AreNotBroadcastOneByOne) {
  const Tensor many = Empty(Shape({kHuge, 0, 0})), one = Empty(Shape({1, 0, 0}));
  for (const char* op : {"BatchMatMulV2", "MatrixTriangularSolve"}) {
    const auto product = RunCpuKernel(op, {{"T", kFloat}}, {many, one});
    ASSERT_TRUE(product.ok()) << op << product.status();
    EXPECT_EQ((*product)[0].shape(), many.shape()) << op;
  }
}

// What the indices of a small one name is still checked.
TEST(Strings, AreMeasuredBeforeTheyAreMade) {
  const Tensor long_text = Texts({std::string(1 << 20, 'x')});
  const Shape scalar;
  std::string groups;
  for (int i = 0; i < 8192; ++i) groups += "\\0";
  for (const bool everywhere : {false, true}) {
    const auto replaced =
        RunCpuKernel("RegexReplace", {{"replace_global", attr::Bool(everywhere)}},
                     {long_text, Texts({"x+"}).Reshaped(scalar), Texts({groups}).Reshaped(scalar)});
    EXPECT_EQ(replaced.status().code(), absl::StatusCode::kResourceExhausted);
  }
  const Attrs attrs = {{"separator", attr::String("")},
                       {"left_pad", attr::String("")},
                       {"right_pad", attr::String("")},
                       {"ngram_widths", attr::IntList({8192})},
                       {"pad_width", attr::Int(-1)},
                       {"Tsplits", kInt64},
                       {"preserve_short_sequences", attr::Bool(false)}};
  const auto ngrams = RunCpuKernel("StringNGrams", attrs, {long_text, Longs({0, 1})});
  EXPECT_EQ(ngrams.status().code(), absl::StatusCode::kResourceExhausted);
}

TEST(NGrams, OfNoWidthLeaveShortRowsAsTheyAre) {
  const Attrs attrs = {{"separator", attr::String("-")},
                       {"left_pad", attr::String("<")},
                       {"right_pad", attr::String(">")},
                       {"ngram_widths", attr::IntList({})},
                       {"pad_width", attr::Int(-1)},
                       {"Tsplits", kInt64},
                       {"preserve_short_sequences", attr::Bool(true)}};
  const auto ngrams = RunCpuKernel("StringNGrams", attrs, {Texts({"a", "b", "c"}), Longs({0, 3})});
  ASSERT_TRUE(ngrams.ok()) << ngrams.status();
  EXPECT_EQ((*ngrams)[0].StringAt(0), "a-b-c");
}

// As in TensorFlow, which looks at no id then.
TEST(EmptyTensors, MayHaveIdsBeyondTheSegments) {
  const auto sums = RunCpuKernel("UnsortedSegmentSum",
                                 {{"T", kFloat}, {"Tindices", kInt64}, {"Tnumsegments", kInt64}},
                                 {Empty(Shape({1, 0})), Longs({3}), Longs(Shape(), {2})});
  ASSERT_TRUE(sums.ok()) << sums.status();
  EXPECT_EQ((*sums)[0].shape(), Shape({2, 0}));
}

TEST(RaggedGather, CountsRowsWithoutWidthOnlyAsFarAsTheyGo) {
  constexpr int64_t kRows = int64_t{1} << 62;
  const Attrs attrs = {{"Tvalues", kFloat},
                       {"Tindices", kInt64},
                       {"Tsplits", kInt64},
                       {"PARAMS_RAGGED_RANK", attr::Int(1)},
                       {"OUTPUT_RAGGED_RANK", attr::Int(1)}};
  const auto gather = [&](const std::vector<int64_t>& rows) {
    return RunCpuKernel("RaggedGather", attrs,
                        {Longs({0, kRows}), Empty(Shape({kRows, 0})), Longs(rows)});
  };
  const auto once = gather({0});
  ASSERT_TRUE(once.ok()) << once.status();
  EXPECT_EQ((*once)[1].shape(), Shape({kRows, 0}));
  EXPECT_EQ(gather({0, 0}).status().code(), absl::StatusCode::kInvalidArgument);
}

TEST(SparseFillEmptyRows, HasNoMemoryForAllRows) {
  for (const int64_t rows : {INT64_MAX, INT64_MAX - 1, int64_t{1} << 61}) {
    const auto filled = RunCpuKernel("SparseFillEmptyRows", {{"T", kFloat}},
                                     {Longs(Shape({1, 2}), {0, 1}), Floats({1}), Longs({rows, 2}),
                                      Tensor::Of<float>(DataType::kFloat, {0}, Shape())});
    EXPECT_EQ(filled.status().code(), absl::StatusCode::kResourceExhausted) << rows;
  }
}

TEST(Tiles, TellTheFailureOfTheLowest) {
  for (int threads : {1, 2, 3}) {
    Workers workers(threads);
    const StepArgs args{nullptr, nullptr, nullptr, &workers, nullptr};
    const absl::Status status = cpu::ForEachTile(args, 1000, 0, [](int64_t tile, char*) {
      if (tile != 900 && tile != 307 && tile != 308) return absl::OkStatus();
      return absl::InvalidArgumentError(std::to_string(tile));
    });
    EXPECT_EQ(status.message(), "307") << threads;
  }
}

}  // namespace
}  // namespace tenon
