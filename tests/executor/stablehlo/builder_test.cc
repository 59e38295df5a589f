// Ops of a program that change nothing, and those that only seem to.
#include "executor/stablehlo/builder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tenon::stablehlo {
namespace {

using ::testing::HasSubstr;

TEST(StableHloBuilder, PadsWhereTheShapeAloneStays) {
  Builder builder("HIGHEST", false);
  const Value x = builder.Full(DataType::kFloat, Shape({2}), 1);
  const Value filler = builder.Scalar(DataType::kFloat, 0);
  const auto pad = [&](IntSpan low, IntSpan high, IntSpan interior) {
    builder.Take();
    const Value padded = builder.Pad(x, filler, low, high, interior);
    EXPECT_EQ(padded.shape, Shape({2}));
    return builder.Take().text;
  };
  EXPECT_EQ(pad({0}, {0}, {}), "");
  EXPECT_EQ(pad({0}, {0}, {0}), "");
  EXPECT_THAT(pad({0}, {-1}, {1}), HasSubstr("high = [-1], interior = [1]"));
  EXPECT_THAT(pad({1}, {-1}, {0}), HasSubstr("low = [1]"));
}

// A branch may have more results than 16 bits count.
TEST(StableHloBuilder, NumbersAllResultsOfAnOp) {
  Builder builder("HIGHEST", false);
  const Values shapes(70'000, builder.Scalar(DataType::kFloat, 0));
  const Values results =
      builder.Branch("if", builder.Scalar(DataType::kBool, 0), std::vector<Lines>(2), shapes);
  ASSERT_EQ(results.size(), 70'000u);
  builder.Take();
  builder.Add(results[40'000], results[69'999]);
  const std::string text = builder.Take().text;
  EXPECT_THAT(text, HasSubstr("#40000"));
  EXPECT_THAT(text, HasSubstr("#69999"));
}

}  // namespace
}  // namespace tenon::stablehlo
