// Options of clients by their spelling, and the bytes of compile options.
#include "plugin/pjrt/options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tenon::pjrt {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

TEST(ClientOptionTest, IsTypedByItsSpelling) {
  EXPECT_EQ(std::get<int64_t>(OptionOf("n", "7").value), 7);
  EXPECT_EQ(std::get<int64_t>(OptionOf("n", "-7").value), -7);
  EXPECT_EQ(std::get<float>(OptionOf("n", "0.5").value), 0.5f);
  EXPECT_TRUE(std::get<bool>(OptionOf("n", "true").value));
  EXPECT_EQ(std::get<std::vector<int64_t>>(OptionOf("n", "0,2").value),
            (std::vector<int64_t>{0, 2}));
  for (const char* text : {"bfc", "", "True", "1,b", "infinity", "7 GB"})
    EXPECT_EQ(std::get<std::string>(OptionOf("n", text).value), text);
}

TEST(ClientOptionTest, ValuesHaveTheSizesThatPluginsExpect) {
  const std::vector<ClientOption> options = {{"text", "abc"}, {"list", std::vector<int64_t>{1, 2}}};
  const std::vector<abi::NamedValue> values = ToNamedValues(options);
  ASSERT_THAT(values, SizeIs(2));
  EXPECT_EQ(values[0].head.struct_size, 56u);
  EXPECT_EQ(values[0].value_size, 3u);
  EXPECT_EQ(values[1].value_size, 2u);
  EXPECT_EQ(TextOf(values[1]), "1.2");
}

TEST(ClientOptionTest, DefaultsYieldToTheUser) {
  EXPECT_EQ(DefaultsFor("/a/pjrt_c_api_cpu_plugin.so", {}, {})[0].name, "cpu_device_count");
  EXPECT_THAT(DefaultsFor("/a/pjrt_c_api_cpu_plugin.so", {}, {{"cpu_device_count", int64_t{2}}}),
              IsEmpty());
  EXPECT_EQ(DefaultsFor("/a/x.so", {{"cuda_version", "13000"}}, {})[0].name, "preallocate");
  EXPECT_THAT(DefaultsFor("/cpu/x.so", {}, {}), IsEmpty());
}

TEST(CompileOptionsTest, AreTheBytesOfTheInterface) {
  const std::string least("\x1a\x0f\x20\x01\x28\x01\x4a\x09\x08\x01\x10\x01\x1a\x03\x0a\x01\x05",
                          17);
  EXPECT_EQ(CompileOptions(5, {}), least);
  const std::string two(
      "\x3a\x08\x0a\x02\x66\x31\x12\x02\x10\x00"
      "\x3a\x08\x0a\x02\x66\x32\x12\x02\x10\x00",
      20);
  EXPECT_EQ(CompileOptions(5, {"f1", "f2"}), least + two);
  EXPECT_THAT(CompileOptions(5, XlaFlagsOff("cuda")),
              ::testing::HasSubstr("xla_allow_excess_precision"));
  EXPECT_THAT(XlaFlagsOff("cuda"), ::testing::ElementsAre("xla_allow_excess_precision"));
  EXPECT_THAT(XlaFlagsOff("cpu"),
              ::testing::ElementsAre("xla_allow_excess_precision", "xla_cpu_enable_fast_min_max"));
}

}  // namespace
}  // namespace tenon::pjrt
