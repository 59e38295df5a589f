// DecodeWav of files with more chunks than two, EncodeWav of more than a file can say.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "graph/op_defs/attr_value.h"
#include "tests/plugin/cpu/cpu_kernel_util.h"

namespace tenon::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string Number(uint32_t value, size_t bytes) {
  return {reinterpret_cast<const char*>(&value), bytes};
}
std::string Chunk(const std::string& name, const std::string& bytes) {
  return name + Number(static_cast<uint32_t>(bytes.size()), 4) + bytes;
}
std::string Format(uint32_t channels, uint32_t rate) {
  return Chunk("fmt ", Number(1, 2) + Number(channels, 2) + Number(rate, 4) +
                           Number(rate * channels * 2, 4) + Number(channels * 2, 2) +
                           Number(16, 2));
}
std::string Samples(const std::vector<int16_t>& samples) {
  return Chunk("data", {reinterpret_cast<const char*>(samples.data()), 2 * samples.size()});
}

absl::StatusOr<std::vector<Tensor>> Decode(const std::string& chunks) {
  const Tensor file = *Tensor::Allocate(DataType::kString, Shape());
  file.SetString(0, Chunk("RIFF", "WAVE" + chunks));
  return RunCpuKernel("DecodeWav",
                      {{"desired_channels", attr::Int(-1)}, {"desired_samples", attr::Int(-1)}},
                      {file});
}

TEST(DecodeWav, RefusesSamplesInTwoChunks) {
  for (const std::string& second : {Samples({3}), Samples({}), Chunk("LIST", "abcd") + Samples({3}),
                                    std::string("data\x90\x01\0\0ab", 10)}) {
    const absl::Status status = Decode(Format(1, 8000) + Samples({1, 2}) + second).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr("more than one chunk of data"));
  }
}

TEST(DecodeWav, PassesOverWhatFollowsFormatAndSamples) {
  for (const std::string& chunks :
       {Format(1, 8000) + Samples({1, 2}) + Chunk("LIST", "abcd"),
        Format(1, 8000) + Samples({1, 2}) + std::string("LIST\x90\x01\0\0ab", 10),
        Format(1, 8000) + Samples({1, 2}) + Format(2, 4000),
        Format(1, 8000) + Format(2, 4000) + Samples({1, 2})}) {
    const auto sound = Decode(chunks);
    ASSERT_TRUE(sound.ok()) << sound.status();
    ASSERT_EQ((*sound)[0].shape(), Shape({2, 1}));
    EXPECT_THAT(absl::MakeSpan((*sound)[0].flat<float>(), 2),
                ElementsAre(1.0f / 32768, 2.0f / 32768));
    EXPECT_EQ(*(*sound)[1].flat<int32_t>(), 8000);
  }
}

// The size of a sample of all channels has 16 bits.
TEST(EncodeWav, RefusesChannelsThatNoReaderCouldDecode) {
  const Tensor rate = Tensor::Of<int32_t>(DataType::kInt32, {1}, Shape());
  for (const int64_t channels : {32767, 32768}) {
    const Tensor audio = Tensor::Of<float>(DataType::kFloat, std::vector<float>(channels, 0.0f),
                                           Shape({1, channels}));
    const auto file = RunCpuKernel("EncodeWav", {}, {audio, rate});
    EXPECT_EQ(file.ok(), channels == 32767) << file.status();
  }
}

// The bytes of a second have 32 bits.
TEST(EncodeWav, RefusesARateThatTheHeadCannotSay) {
  const Tensor audio = Tensor::Of<float>(DataType::kFloat, {0, 0}, Shape({1, 2}));
  for (const int32_t rate : {INT32_MAX / 2, INT32_MAX / 2 + 1}) {
    const auto file = RunCpuKernel("EncodeWav", {},
                                   {audio, Tensor::Of<int32_t>(DataType::kInt32, {rate}, Shape())});
    EXPECT_EQ(file.ok(), rate == INT32_MAX / 2) << file.status();
  }
}

}  // namespace
}  // namespace tenon::testing
