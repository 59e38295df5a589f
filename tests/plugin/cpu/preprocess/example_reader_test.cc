#include "plugin/cpu/preprocess/example_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tenon::cpu {
namespace {

using ::testing::HasSubstr;

TEST(ExampleReader, SaysWhatAMalformedStringShouldBe) {
  constexpr std::string_view kMalformed = "\x0a\x05";  // a field of 5 bytes that ends at once
  for (const absl::Status& status :
       {ReadExample(kMalformed, [](std::string_view, FeatureList) {}),
        ReadFeatureLists(kMalformed, [](std::string_view, std::string_view) {}),
        ReadSteps(kMalformed, [](FeatureList) { return absl::OkStatus(); }),
        FeatureValues(DataType::kInt64).Append({DataType::kInt64, kMalformed})}) {
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr("tf.SequenceExample"));
  }
}

}  // namespace
}  // namespace tenon::cpu
