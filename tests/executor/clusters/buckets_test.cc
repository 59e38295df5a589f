// Sizes of buckets, and copies into and out of padded tensors.
#include "executor/clusters/buckets.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace tenon::buckets_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Buckets Parsed(std::string_view text) {
  const absl::StatusOr<Buckets> buckets = Buckets::Parse(text);
  EXPECT_TRUE(buckets.ok()) << buckets.status();
  return buckets.ok() ? *buckets : Buckets();
}

std::vector<int64_t> BucketsOf(const Buckets& buckets, const std::vector<int64_t>& sizes) {
  std::vector<int64_t> of;
  for (const int64_t size : sizes) of.push_back(buckets.Of(size));
  return of;
}

TEST(Buckets, ArePowersOfTwo) {
  constexpr int64_t kTooLarge = (int64_t{1} << 62) + 1;
  const Buckets pow2 = Parsed("pow2");
  EXPECT_TRUE(pow2.on());
  EXPECT_THAT(BucketsOf(pow2, {0, 1, 3, 64, 65, kTooLarge}),
              ElementsAre(0, 1, 4, 64, 128, kTooLarge));
}

TEST(Buckets, AreSizesOfAList) {
  const Buckets list = Parsed("2,8,100");
  EXPECT_TRUE(list.on());
  EXPECT_THAT(BucketsOf(list, {0, 1, 8, 9, 101}), ElementsAre(0, 2, 8, 100, 101));
}

TEST(Buckets, AreOff) {
  EXPECT_FALSE(Parsed("off").on());
  EXPECT_EQ(Parsed("off").Of(5), 5);
}

TEST(Buckets, RefuseOtherTexts) {
  for (const char* text :
       {"", "pow3", "1,", ",1", "0", "-1", "1.5", "1, 2", "99999999999999999999"})
    EXPECT_THAT(Buckets::Parse(text).status().message(), HasSubstr("is neither pow2 nor off"))
        << text;
  EXPECT_THAT(Buckets::Parse("4,4").status().message(), HasSubstr("must grow"));
  EXPECT_THAT(Buckets::Parse("8,4").status().message(), HasSubstr("4 follows 8"));
}

TEST(Padding, RepeatsTheLastElements) {
  const std::vector<int16_t> from = {1, 2, 3, 4};
  std::vector<int16_t> to(12, -1);
  CopyPadded(from.data(), Shape({2, 2}), to.data(), Shape({3, 4}), sizeof(int16_t));
  EXPECT_THAT(to, ElementsAre(1, 2, 2, 2, 3, 4, 4, 4, 3, 4, 4, 4));
  std::vector<int16_t> back(4, -1);
  CopyLeading(to.data(), Shape({3, 4}), back.data(), Shape({2, 2}), sizeof(int16_t));
  EXPECT_EQ(back, from);
}

TEST(Padding, KeepsInnerDimensionsWhole) {
  const std::vector<float> from = {1, 2, 3, 4, 5, 6};
  std::vector<float> to(12, -1);
  CopyPadded(from.data(), Shape({1, 3, 2}), to.data(), Shape({2, 3, 2}), sizeof(float));
  EXPECT_THAT(to, ElementsAre(1, 2, 3, 4, 5, 6, 1, 2, 3, 4, 5, 6));
  std::vector<float> back(6, -1);
  CopyLeading(to.data(), Shape({2, 3, 2}), back.data(), Shape({1, 3, 2}), sizeof(float));
  EXPECT_EQ(back, from);
}

TEST(Padding, OfAMiddleDimension) {
  const std::vector<int32_t> from = {1, 2, 3, 4, 5, 6, 7, 8};
  std::vector<int32_t> to(12, -1);
  CopyPadded(from.data(), Shape({2, 2, 2}), to.data(), Shape({2, 3, 2}), sizeof(int32_t));
  EXPECT_THAT(to, ElementsAre(1, 2, 3, 4, 3, 4, 5, 6, 7, 8, 7, 8));
  std::vector<int32_t> back(8, -1);
  CopyLeading(to.data(), Shape({2, 3, 2}), back.data(), Shape({2, 2, 2}), sizeof(int32_t));
  EXPECT_EQ(back, from);
}

TEST(Padding, OfNoElementsCopiesNone) {
  const int32_t from = 1;
  int32_t to = -1;
  CopyLeading(&from, Shape({1, 1}), &to, Shape({1, 0}), sizeof(int32_t));
  EXPECT_EQ(to, -1);
}

TEST(Padding, OfOneShapeIsACopy) {
  const float from = 7;
  float to = 0;
  CopyPadded(&from, Shape(), &to, Shape(), sizeof(float));
  EXPECT_EQ(to, 7);
}

}  // namespace
}  // namespace tenon::buckets_test
