// Quantization where no answer of TensorFlow's is to compare with: laws between ops, ranges that it
// refuses or mixes up, values that are not finite, and the same bits whatever the number of
// threads.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "tests/plugin/cpu/float_op_util.h"

namespace tenon {
namespace {

using testing::Attrs;
using ::testing::ElementsAre;
using testing::Floats;
using ::testing::HasSubstr;
using testing::RunCpuKernel;
using testing::RunSteadily;
using testing::Values;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
const std::string kFloat = attr::Type(DataType::kFloat);

Tensor Scalar(float value) { return Floats(Shape(), {value}); }
Tensor Bytes(const Shape& shape, const std::vector<uint8_t>& values) {
  return Tensor::Of<uint8_t>(DataType::kQuint8, values, shape);
}
Tensor Ramp(const Shape& shape, float from, float to) {
  Tensor t = *Tensor::Allocate(DataType::kFloat, shape);
  const auto n = static_cast<float>(t.num_elements());
  for (int64_t i = 0; i < t.num_elements(); ++i)
    t.flat<float>()[i] = from + (to - from) * static_cast<float>(i) / n;
  return t;
}

struct Way {
  DataType type;
  const char* mode;
  double steps;
};

class RoundTrips : public ::testing::TestWithParam<Way> {};

TEST_P(RoundTrips, KeepValuesWithinAStep) {
  const auto& [type, mode, steps] = GetParam();
  const Tensor x = Ramp(Shape({100, 700}), -1.5f, 2);
  const std::string mode_value = attr::String(mode);
  const std::vector<Tensor> q = RunSteadily(
      "QuantizeV2", {{"T", attr::Type(type)}, {"mode", mode_value}}, {x, Scalar(-1.5f), Scalar(2)});
  const Tensor y = RunSteadily("Dequantize", {{"T", attr::Type(type)}, {"mode", mode_value}}, q)[0];
  const bool halves = type == DataType::kQuint8 && mode == std::string_view("SCALED");
  for (int64_t i = 0; i < x.num_elements(); ++i) {
    // Unsigned types scaled around 0 have no negative values.
    const float want = halves ? std::max(Values(x)[i], 0.0f) : Values(x)[i];
    ASSERT_NEAR(Values(y)[i], want, 4.5 / steps) << mode << " " << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Types, RoundTrips,
                         ::testing::Values(Way{DataType::kQuint8, "MIN_COMBINED", 255},
                                           Way{DataType::kQuint8, "MIN_FIRST", 255},
                                           Way{DataType::kQuint8, "SCALED", 255},
                                           Way{DataType::kQint8, "MIN_COMBINED", 255},
                                           Way{DataType::kQint8, "SCALED", 255},
                                           Way{DataType::kQint16, "MIN_COMBINED", 65535},
                                           Way{DataType::kQuint16, "MIN_FIRST", 65535}));

// TensorFlow 2.21 refuses ranges per slice that are given.
TEST(QuantizeAndDequantize, TakesARangePerSlice) {
  const Tensor x = Ramp(Shape({2, 3, 50}), -4, 4);
  const std::vector<float> mins = {-1, -2, -3}, maxes = {3, 1, 2};
  const Attrs attrs = {{"T", kFloat}, {"axis", attr::Int(1)}, {"range_given", attr::Bool(true)}};
  const Tensor all = RunSteadily("QuantizeAndDequantizeV4", attrs,
                                 {x, Floats(Shape({3}), mins), Floats(Shape({3}), maxes)})[0];
  for (int64_t slice = 0; slice < 3; ++slice) {
    const Tensor alone =
        RunSteadily("QuantizeAndDequantizeV4", {{"T", kFloat}, {"range_given", attr::Bool(true)}},
                    {x, Scalar(mins[slice]), Scalar(maxes[slice])})[0];
    for (int64_t i = 0; i < x.num_elements(); ++i) {
      if (i / 50 % 3 == slice) {
        ASSERT_EQ(Values(all)[i], Values(alone)[i]) << slice << " " << i;
      }
    }
  }
  const absl::Status status =
      RunCpuKernel("QuantizeAndDequantizeV4", attrs,
                   {x, Floats(Shape({2}), {0, 0}), Floats(Shape({2}), {1, 1})})
          .status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(status.message(), HasSubstr("3 values, one for each slice"));
}

TEST(FakeQuant, TreatsChannelsAsIfAlone) {
  const Tensor x = Ramp(Shape({40, 50, 3}), -6, 6), g = Ramp(Shape({40, 50, 3}), 1, 2);
  const std::vector<float> mins = {-1, 0, 0.5f}, maxes = {3, 0, 2};
  const Tensor min = Floats(Shape({3}), mins), max = Floats(Shape({3}), maxes);
  const Tensor all = RunSteadily("FakeQuantWithMinMaxVarsPerChannel", {}, {x, min, max})[0];
  const std::vector<Tensor> gradients =
      RunSteadily("FakeQuantWithMinMaxVarsPerChannelGradient", {}, {g, x, min, max});
  for (int64_t c = 0; c < 3; ++c) {
    const Tensor low = Scalar(mins[c]), high = Scalar(maxes[c]);
    const Tensor alone = RunSteadily("FakeQuantWithMinMaxVars", {}, {x, low, high})[0];
    const Tensor inside = RunSteadily("FakeQuantWithMinMaxVarsGradient", {}, {g, x, low, high})[0];
    double below = 0;
    for (int64_t i = c; i < x.num_elements(); i += 3) {
      ASSERT_EQ(Values(all)[i], Values(alone)[i]) << c << " " << i;
      ASSERT_EQ(Values(gradients[0])[i], Values(inside)[i]) << c << " " << i;
      if (Values(inside)[i] == 0 && Values(x)[i] < 0) below += Values(g)[i];
    }
    EXPECT_NEAR(Values(gradients[1])[c], below, 1e-3) << c;
  }
}

TEST(Quantize, TakesWhatIsNotFinite) {
  const float inf = std::numeric_limits<float>::infinity();
  const Tensor x = Floats(Shape({3}), {kNan, inf, -inf});
  for (const char* mode : {"MIN_COMBINED", "MIN_FIRST", "SCALED"}) {
    const Tensor q = RunSteadily(
        "QuantizeV2", {{"T", attr::Type(DataType::kQuint8)}, {"mode", attr::String(mode)}},
        {x, Scalar(-1), Scalar(1)})[0];
    EXPECT_EQ(q.flat<uint8_t>()[1], 255) << mode;
    EXPECT_EQ(q.flat<uint8_t>()[2], 0) << mode;
  }
  const Attrs attrs = {{"Tinput", attr::Type(DataType::kQint32)},
                       {"out_type", attr::Type(DataType::kQuint8)}};
  const Tensor sums = Tensor::Of<int32_t>(DataType::kQint32, {INT32_MIN, 0, INT32_MAX}, Shape({3}));
  for (float bound : {1e-38f, 1e38f, inf})
    RunSteadily("Requantize", attrs,
                {sums, Scalar(-bound), Scalar(bound), Scalar(-1e-30f), Scalar(1e-30f)});
  RunSteadily("QuantizeDownAndShrinkRange", attrs, {sums, Scalar(kNan), Scalar(kNan)});
}

// TensorFlow gives a tensor the range of an empty one before it.
TEST(QuantizedConcat, KeepsRangesApartFromEmptyTensors) {
  const std::vector<Tensor> result =
      RunSteadily("QuantizedConcat", {{"N", attr::Int(2)}, {"T", attr::Type(DataType::kQuint8)}},
                  {Tensor::Of<int32_t>(DataType::kInt32, {0}, Shape()), Bytes(Shape({0}), {}),
                   Bytes(Shape({3}), {0, 128, 255}), Scalar(-2), Scalar(0), Scalar(2), Scalar(1)});
  EXPECT_THAT(absl::MakeSpan(result[0].flat<uint8_t>(), 3), ElementsAre(128, 160, 192));
  EXPECT_EQ(Values(result[1])[0], -2);
  EXPECT_EQ(Values(result[2])[0], 2);
}

TEST(QuantizedConv2D, IsAMatMulForOnePixel) {
  std::vector<uint8_t> a(600), b(600);
  for (size_t i = 0; i < a.size(); ++i) {
    a[i] = static_cast<uint8_t>(i * 37);
    b[i] = static_cast<uint8_t>(i * 91 + 5);
  }
  const std::string quint8 = attr::Type(DataType::kQuint8), qint32 = attr::Type(DataType::kQint32);
  const std::vector<Tensor> ranges = {Scalar(-1), Scalar(2), Scalar(-0.5f), Scalar(3)};
  const auto with = [&](Tensor x, Tensor y) {
    std::vector<Tensor> inputs = {std::move(x), std::move(y)};
    inputs.insert(inputs.end(), ranges.begin(), ranges.end());
    return inputs;
  };
  const auto product =
      RunSteadily("QuantizedMatMul", {{"T1", quint8}, {"T2", quint8}, {"Toutput", qint32}},
                  with(Bytes(Shape({30, 20}), a), Bytes(Shape({20, 30}), b)));
  const auto conv =
      RunSteadily("QuantizedConv2D",
                  {{"Tfilter", quint8},
                   {"Tinput", quint8},
                   {"out_type", qint32},
                   {"padding", attr::String("SAME")},
                   {"strides", attr::IntList({1, 1, 1, 1})}},
                  with(Bytes(Shape({2, 5, 3, 20}), a), Bytes(Shape({1, 1, 20, 30}), b)));
  EXPECT_EQ(memcmp(product[0].data(), conv[0].data(), product[0].bytes()), 0);
  EXPECT_EQ(Values(product[1])[0], Values(conv[1])[0]);
}

}  // namespace
}  // namespace tenon
