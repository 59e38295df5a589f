// Portable artifacts: tests/golden/pjrt/README.md says where this one is from.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "host.h"

namespace tenon::pjrt_test {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

std::string Artifact() {
  std::ifstream file("tests/golden/pjrt/artifact_1.8.0.mlirbc", std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

std::string ErrorOf(const Client& client, const std::string& program) {
  abi::LoadedExecutable* executable = nullptr;
  std::string error = client.Compile(program, &executable);
  if (executable) client.Destroy(executable);
  return error;
}

void ExpectNear(const Tensor& tensor, const std::vector<double>& expected, double tolerance) {
  const std::vector<double> numbers = Numbers(tensor);
  ASSERT_EQ(numbers.size(), expected.size());
  for (size_t i = 0; i < numbers.size(); ++i) EXPECT_NEAR(numbers[i], expected[i], tolerance) << i;
}

TEST(PjrtBytecode, RunsWhatJaxWrote) {
  const Client client(SharedApi());
  const std::vector<Tensor> results = client.Run(
      Artifact(),
      {Floats({2, 3}, {0, 0.25F, 0.5F, 0.75F, 1, 1.25F}), Of<int32_t>(abi::kS32, {2}, {1, 1})});
  ASSERT_EQ(results.size(), 3U);
  ExpectNear(results[0], {1.6769159, 2.3230844, 2.9828992, 0.8384579, 1.1615422, 1.4914496}, 1e-5);
  ExpectNear(results[1], {0.75, 1, 1.25, 0.75, 1, 1.25}, 0);
  EXPECT_EQ(results[2].type, abi::kBF16);
  ExpectNear(results[2], {17.125, 8.5625, 25.625, 12.8125}, 0.15);
}

TEST(PjrtBytecode, PrefixesAreRefused) {
  const Client client(SharedApi());
  const std::string artifact = Artifact();
  ASSERT_GT(artifact.size(), 1000U);
  EXPECT_EQ(ErrorOf(client, artifact), "");
  for (size_t size = 4; size < artifact.size(); size += 13) {
    EXPECT_THAT(ErrorOf(client, artifact.substr(0, size)), StartsWith("2: ")) << size;
  }
}

// A byte that is another one is refused or taken, whatever it is.
TEST(PjrtBytecode, ChangedBytesEndNothing) {
  const Client client(SharedApi());
  const std::string artifact = Artifact();
  for (size_t at = 4; at < artifact.size(); at += 7) {
    for (const char c : {'\0', '\1', '\xFF', static_cast<char>(artifact[at] ^ 2)}) {
      std::string changed = artifact;
      changed[at] = c;
      EXPECT_THAT(ErrorOf(client, changed), Not(StartsWith("13: "))) << at;
    }
  }
}

TEST(PjrtBytecode, AnUnknownVersionIsNamed) {
  const Client client(SharedApi());
  std::string artifact = Artifact();
  artifact[4] = static_cast<char>(99 * 2 + 1);
  EXPECT_THAT(ErrorOf(client, artifact), HasSubstr("version 99"));
}

}  // namespace
}  // namespace tenon::pjrt_test
