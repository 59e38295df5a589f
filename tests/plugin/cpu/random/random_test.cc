// Random ops where no single answer of TensorFlow's tells: streams that go on from run to run, the
// same numbers whatever the number of threads, and parameters that no draw would ever satisfy.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <limits>

#include "graph/op_defs/attr_value.h"
#include "plugin/cpu/random/philox.h"
#include "tests/plugin/cpu/cpu_kernel_util.h"

namespace tenon {
namespace {

using testing::Attrs;
using ::testing::HasSubstr;
using testing::RunCpuKernel;
using testing::RunSteadily;

constexpr float kNoNumber = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

Tensor Ints(const std::vector<int32_t>& values) {
  return Tensor::Of<int32_t>(DataType::kInt32, values,
                             Shape({static_cast<int64_t>(values.size())}));
}
Tensor Int(int32_t value) { return Ints({value}).Reshaped(Shape()); }
Tensor Floats(const std::vector<float>& values) {
  return Tensor::Of<float>(DataType::kFloat, values, Shape({static_cast<int64_t>(values.size())}));
}
Tensor Float(float value) { return Floats({value}).Reshaped(Shape()); }

const std::string kFloatType = attr::Type(DataType::kFloat), kInt32 = attr::Type(DataType::kInt32),
                  kInt64 = attr::Type(DataType::kInt64);

Attrs Seeded(Attrs attrs) {
  attrs["seed"] = attr::Int(3);
  attrs["seed2"] = attr::Int(4);
  return attrs;
}

// The generator of a node with these seeds, as it stands after one run of `blocks`.
cpu::Philox AfterRunOf(uint64_t blocks) {
  cpu::Philox philox;
  philox.key = {3, 0};
  philox.counter = {0, 0, 4, 0};
  philox.Skip(blocks);
  return philox;
}

TEST(RandomStream, GoesOnBy256BlocksForEachNumber) {
  const auto numbers =
      RunCpuKernel("RandomUniform", Seeded({{"dtype", kFloatType}, {"T", kInt32}}), {Ints({5})});
  ASSERT_TRUE(numbers.ok()) << numbers.status();
  cpu::Philox philox = AfterRunOf(5 * 256);
  const cpu::PhiloxWords first = philox.Next(), second = philox.Next();
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ((*numbers)[0].flat<float>()[i], cpu::UniformFloat(i < 4 ? first[i] : second[0]));
  }
}

TEST(RandomStream, OfAShuffleGoesOnByOneWordForEachRow) {
  const auto rows = RunCpuKernel("RandomShuffle", Seeded({{"T", kInt32}}), {Ints({0, 1, 2, 3, 4})});
  ASSERT_TRUE(rows.ok()) << rows.status();
  std::vector<int32_t> order = {0, 1, 2, 3, 4};
  cpu::PhiloxStream words(AfterRunOf(2));
  for (uint32_t i = 0; i < 4; ++i) std::swap(order[i], order[i + words.Next32() % (5 - i)]);
  EXPECT_EQ(memcmp((*rows)[0].data(), order.data(), 20), 0);
}

TEST(RandomNumbers, DoNotDependOnThreads) {
  const Attrs sized = Seeded({{"dtype", kFloatType}, {"T", kInt32}});
  const Attrs sampled =
      Seeded({{"dtype", kFloatType}, {"S", kInt32}, {"R", kFloatType}, {"T", kFloatType}});
  const Attrs whole = {{"dtype", kInt64}, {"T", kInt32}, {"Tseed", kInt32}};
  RunSteadily("RandomUniform", sized, {Ints({70001})});
  RunSteadily("TruncatedNormal", sized, {Ints({70001})});
  RunSteadily("StatelessRandomUniformFullInt", whole, {Ints({70001}), Ints({1, 2})});
  RunSteadily("RandomPoissonV2", sampled, {Ints({3001}), Floats({.5F, 30, 4})});
}

TEST(RandomParameters, ThatNoDrawSatisfiesAreRefused) {
  const Attrs sampled =
      Seeded({{"dtype", kFloatType}, {"S", kInt32}, {"R", kFloatType}, {"T", kFloatType}});
  for (float rate : {kNoNumber, kInf}) {
    EXPECT_THAT(
        RunCpuKernel("RandomPoissonV2", sampled, {Ints({2}), Floats({1, rate})}).status().message(),
        HasSubstr("parameter 1"));
  }
  for (float alpha : {kNoNumber, -1.0F}) {
    EXPECT_FALSE(RunCpuKernel("RandomGamma", Seeded({{"S", kInt32}, {"T", kFloatType}}),
                              {Ints({2}), Floats({alpha})})
                     .ok());
  }
  const auto truncated = [](float deviation, float low, float high) {
    return RunCpuKernel("ParameterizedTruncatedNormal",
                        Seeded({{"dtype", kFloatType}, {"T", kInt32}}),
                        {Ints({2}), Float(0), Float(deviation), Float(low), Float(high)})
        .status()
        .code();
  };
  EXPECT_EQ(truncated(-1, 0, 1), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(truncated(kNoNumber, 0, 1), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(truncated(1, 1e30F, 1e31F), absl::StatusCode::kInternal);
}

TEST(RandomParameters, OfCountsThatAreNoNumbersGiveNone) {
  const Attrs attrs = {{"dtype", kInt32}, {"T", kFloatType}, {"S", kInt32}, {"Tseed", kInt32}};
  for (float count : {kNoNumber, kInf, -1.0F, 1e30F}) {
    const auto drawn = RunCpuKernel("StatelessRandomBinomial", attrs,
                                    {Ints({3}), Ints({1, 2}), Float(count), Float(.3F)});
    EXPECT_TRUE(drawn.ok()) << count << drawn.status();
  }
}

Tensor Classes(const std::vector<int64_t>& classes) {
  return Tensor::Of<int64_t>(DataType::kInt64, classes,
                             Shape({static_cast<int64_t>(classes.size()), 1}));
}

TEST(LearnedUnigramSampler, CountsTheTrueClassesOfEarlierRuns) {
  const Attrs attrs = Seeded({{"num_true", attr::Int(1)},
                              {"num_sampled", attr::Int(3)},
                              {"unique", attr::Bool(false)},
                              {"range_max", attr::Int(2)}});
  const auto second = RunCpuKernel("LearnedUnigramCandidateSampler", attrs, {Classes({0})});
  ASSERT_TRUE(second.ok()) << second.status();
  EXPECT_FLOAT_EQ((*second)[1].flat<float>()[0], 3 * 2.0F / 3);
}

TEST(FixedUnigramSampler, RefusesWeightsThatDoNotSuffice) {
  const auto code = [](bool unique, const std::vector<float>& weights) {
    const Attrs attrs = Seeded({{"num_true", attr::Int(1)},
                                {"num_sampled", attr::Int(2)},
                                {"unique", attr::Bool(unique)},
                                {"range_max", attr::Int(3)},
                                {"unigrams", attr::FloatList(weights)}});
    return RunCpuKernel("FixedUnigramCandidateSampler", attrs, {Classes({0})}).status().code();
  };
  EXPECT_EQ(code(true, {0, 2, 1}), absl::StatusCode::kOk);
  EXPECT_EQ(code(true, {0, 2, 0}), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(code(false, {0, 0, 0}), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(code(false, {1, 1}), absl::StatusCode::kInvalidArgument);
}

TEST(RandomIndexShuffle, RefusesWhatWouldNeverComeBack) {
  const Attrs four = {{"dtype", kInt32}, {"Tseed", kInt32}, {"rounds", attr::Int(4)}};
  EXPECT_TRUE(RunCpuKernel("RandomIndexShuffle", four, {Int(4), Ints({1, 2, 3}), Int(4)}).ok());
  for (int32_t index : {5, -1})
    EXPECT_FALSE(
        RunCpuKernel("RandomIndexShuffle", four, {Int(index), Ints({1, 2, 3}), Int(4)}).ok());
  for (int64_t rounds : {int64_t{0}, int64_t{5}, std::numeric_limits<int64_t>::max() - 1}) {
    Attrs attrs = four;
    attrs["rounds"] = attr::Int(rounds);
    EXPECT_THAT(RunCpuKernel("RandomIndexShuffle", attrs, {Int(1), Ints({1, 2, 3}), Int(4)})
                    .status()
                    .message(),
                HasSubstr("rounds"));
  }
}

}  // namespace
}  // namespace tenon
