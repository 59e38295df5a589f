// Accumulators that lack memory keep what they have, and take nothing by halves.
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "executor/session/session.h"
#include "gmock/gmock.h"
#include "graph/tensor/memory_bound.h"
#include "gtest/gtest.h"
#include "tests/executor/graph_text_util.h"

namespace tenon {
namespace {

using testing::Const;
using ::testing::Each;
using ::testing::ElementsAre;
using testing::Floats;
using testing::Op;
using testing::Placeholder;
using testing::Values;

constexpr int64_t kRow = 1 << 18;
constexpr size_t kRowBytes = kRow * sizeof(float);
constexpr std::string_view kFloat = "attr { key: 'dtype' value { type: DT_FLOAT } } ";

const std::string kNumbers = Const("step", "DT_INT64", "tensor_shape {} int64_val: 0") +
                             Const("one", "DT_INT32", "tensor_shape {} int_val: 1");

std::string Accumulator(std::string_view op) {
  return Op("a", op, {},
            absl::StrCat(kFloat, "attr { key: 'shape' value { shape { unknown_rank: true } } } ",
                         "attr { key: 'reduction_type' value { s: 'SUM' } } "));
}

absl::StatusCode CodeOf(const absl::StatusOr<std::vector<Tensor>>& result) {
  return result.status().code();
}

TEST(Accumulators, KeepAMeanThatCouldNotBeTaken) {
  auto session = testing::MakeSession(
      kNumbers + Placeholder("x", "unknown_rank: true") +
      Op("a", "ConditionalAccumulator", {},
         absl::StrCat(kFloat, "attr { key: 'shape' value { shape { unknown_rank: true } } } ")) +
      Op("apply", "AccumulatorApplyGradient", {"a", "step", "x"}, kFloat) +
      Op("take", "AccumulatorTakeGradient", {"a", "one"}, kFloat));
  // The accumulator holds this tensor, which it must copy before it divides.
  const Tensor gradient = Floats(std::vector<float>(kRow, 3), {kRow});
  ASSERT_TRUE(session->Run({{"x", gradient}}, {"apply"}).ok());
  {
    const MemoryBound bound(kRowBytes / 2);
    ASSERT_EQ(CodeOf(session->Run({}, {"take"})), absl::StatusCode::kResourceExhausted);
  }
  const auto taken = session->Run({}, {"take"});
  ASSERT_TRUE(taken.ok()) << taken.status();
  EXPECT_EQ((*taken)[0].shape(), Shape({kRow}));
  EXPECT_THAT(Values((*taken)[0]), Each(3));
}

TEST(Accumulators, AddAllRowsOrNone) {
  auto session = testing::MakeSession(
      kNumbers + Placeholder("rows", "unknown_rank: true") +
      Const("indices", "DT_INT64", "tensor_shape { dim { size: 2 } } int64_val: 3 int64_val: 5") +
      Const("shape", "DT_INT64", "tensor_shape { dim { size: 0 } }") +
      Accumulator("SparseConditionalAccumulator") +
      Op("apply", "SparseAccumulatorApplyGradient", {"a", "step", "indices", "rows", "shape"},
         absl::StrCat(kFloat, "attr { key: 'has_known_shape' value { b: false } } ")) +
      Op("count", "AccumulatorNumAccumulated", {"a"}) +
      Op("take", "SparseAccumulatorTakeGradient", {"a", "one"}, kFloat));
  const Tensor rows = Floats(std::vector<float>(2 * kRow, 3), {2, kRow});
  {
    const MemoryBound first_row(kRowBytes * 3 / 2);
    ASSERT_EQ(CodeOf(session->Run({{"rows", rows}}, {"apply"})),
              absl::StatusCode::kResourceExhausted);
  }
  const auto count = session->Run({}, {"count"});
  ASSERT_TRUE(count.ok()) << count.status();
  EXPECT_EQ(*(*count)[0].flat<int32_t>(), 0);
  const absl::Status again = session->Run({{"rows", rows}}, {"apply"}).status();
  ASSERT_TRUE(again.ok()) << again;
  const std::vector<std::string> fetches = {"take", "take:1"};
  const auto taken = session->Run({}, fetches);
  ASSERT_TRUE(taken.ok()) << taken.status();
  EXPECT_THAT(absl::MakeSpan((*taken)[0].flat<int64_t>(), 2), ElementsAre(3, 5));
  EXPECT_THAT(Values((*taken)[1]), Each(3));
}

}  // namespace
}  // namespace tenon
