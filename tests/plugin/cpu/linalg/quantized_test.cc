// Products and convolutions of floats that become bytes in the run: that answers do not depend on
// threads, other rows or other images, what a NaN does, and what is refused. Their numbers are in
// tests/golden/ops.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "graph/op_defs/attr_value.h"
#include "graph/op_defs/byte_sums.h"
#include "plugin/cpu/linalg/coded/quantized_loops.h"
#include "tests/plugin/cpu/float_op_util.h"

namespace tenon {
namespace quantized_test {

using testing::Floats;
using ::testing::HasSubstr;
using testing::Int32s;
using testing::Noise;
using testing::RunCpuKernel;
using testing::RunEveryWay;
using testing::RunSteadily;
using testing::Values;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

Tensor Bytes(const Shape& shape) {
  std::mt19937 random(3);
  std::vector<int8_t> values(static_cast<size_t>(shape.num_elements()));
  for (int8_t& v : values) v = static_cast<int8_t>(random());
  return Tensor::Of<int8_t>(DataType::kInt8, absl::MakeConstSpan(values), shape);
}
Tensor Scales(int64_t n) {
  std::vector<float> scales(static_cast<size_t>(n));
  for (int64_t i = 0; i < n; ++i) scales[i] = 0.01f + 0.001f * static_cast<float>(i % 7);
  return Floats(Shape({n}), scales);
}
Tensor Zeros(int64_t n, int32_t by = 0) {
  std::vector<int32_t> zeros(static_cast<size_t>(n));
  for (int64_t i = 0; i < n; ++i) zeros[i] = by * static_cast<int32_t>(i % 5);
  return Int32s(zeros);
}

testing::Attrs ProductAttrs(float step, int64_t least, int64_t most) {
  return {{"T", attr::Type(DataType::kFloat)},
          {"step", attr::Float(step)},
          {"least", attr::Int(least)},
          {"most", attr::Int(most)}};
}
testing::Attrs ConvAttrs(float step) {
  testing::Attrs attrs = ProductAttrs(step, step == 0 ? 0 : -100, step == 0 ? 255 : 155);
  attrs["strides"] = attr::IntList({1, 1, 1, 1});
  attrs["padding"] = attr::String("SAME");
  return attrs;
}

TEST(QuantizedProducts, AnswersDoNotDependOnThreads) {
  for (const int32_t zero : {0, 9}) {
    const Tensor y = RunEveryWay(
        "_TenonQuantizedMatMul", ProductAttrs(0.01f, -128, 127),
        {Noise(Shape({150, 300}), 1), Bytes(Shape({300, 200})), Scales(200), Zeros(200, zero)});
    EXPECT_EQ(y.shape(), Shape({150, 200}));
    for (const float step : {0.0f, 0.01f}) {
      const Tensor conv = RunEveryWay("_TenonQuantizedConv2D", ConvAttrs(step),
                                      {Noise(Shape({3, 20, 70, 16}), 1),
                                       Bytes(Shape({3, 3, 16, 40})), Scales(40), Zeros(40, zero)});
      EXPECT_EQ(conv.shape(), Shape({3, 20, 70, 40}));
    }
  }
}

// Rows and images are rounded each by itself, and a NaN stays in its own.
TEST(QuantizedProducts, RowsAndImagesAreApart) {
  const Tensor b = Bytes(Shape({40, 30})), scales = Scales(30), zeros = Zeros(30, 3);
  Tensor a = Noise(Shape({4, 40}), 5);
  const testing::Attrs attrs = ProductAttrs(0.01f, -128, 127);
  const Tensor before = RunSteadily("_TenonQuantizedMatMul", attrs, {a, b, scales, zeros})[0];
  a.flat<float>()[2 * 40 + 7] = kNan;
  const Tensor after = RunSteadily("_TenonQuantizedMatMul", attrs, {a, b, scales, zeros})[0];
  for (int64_t i = 0; i < 4 * 30; ++i) {
    EXPECT_EQ(std::isnan(Values(after)[i]), i / 30 == 2) << i;
    if (i / 30 != 2) EXPECT_EQ(Values(after)[i], Values(before)[i]) << i;
  }
  const Tensor filter = Bytes(Shape({3, 3, 4, 30}));
  for (const float step : {0.0f, 0.01f}) {
    const Tensor images = Noise(Shape({3, 6, 5, 4}), 6);
    const int64_t size = 6 * 5 * 4, results = 6 * 5 * 30;
    for (int64_t i = 0; i < size; ++i) images.flat<float>()[i] *= 100;
    const Tensor all =
        RunSteadily("_TenonQuantizedConv2D", ConvAttrs(step), {images, filter, scales, zeros})[0];
    const Tensor last =
        Floats(Shape({1, 6, 5, 4}), {Values(images).begin() + 2 * size, Values(images).end()});
    const Tensor alone =
        RunSteadily("_TenonQuantizedConv2D", ConvAttrs(step), {last, filter, scales, zeros})[0];
    for (int64_t i = 0; i < results; ++i)
      EXPECT_EQ(Values(alone)[i], Values(all)[2 * results + i]) << i;
    for (const float wrong : {kNan, kInfinity}) {
      images.flat<float>()[size + 9] = wrong;
      const Tensor y =
          RunSteadily("_TenonQuantizedConv2D", ConvAttrs(step), {images, filter, scales, zeros})[0];
      for (int64_t i = 0; i < 3 * results; ++i) {
        const bool is_nan = i / results == 1 && (std::isnan(wrong) || step == 0);
        EXPECT_EQ(std::isnan(Values(y)[i]), is_nan) << i << " " << wrong << " " << step;
        if (i / results != 1) EXPECT_EQ(Values(y)[i], Values(all)[i]) << i;
      }
    }
  }
}

// By extremes: numbers that are close to denormals, to the largest, or all 0.
TEST(QuantizedProducts, LargeAndSmallImages) {
  const Tensor filter = Bytes(Shape({1, 1, 8, 3})), scales = Scales(3), zeros = Zeros(3);
  const Tensor images = Noise(Shape({1, 4, 4, 8}), 2);
  const Tensor right =
      RunSteadily("_TenonQuantizedConv2D", ConvAttrs(0), {images, filter, scales, zeros})[0];
  for (const float scale : {0x1p-80f, 0x1p100f}) {
    std::vector<float> scaled(Values(images).begin(), Values(images).end());
    for (float& x : scaled) x *= scale;
    const Tensor y = RunSteadily("_TenonQuantizedConv2D", ConvAttrs(0),
                                 {Floats(images.shape(), scaled), filter, scales, zeros})[0];
    for (int64_t i = 0; i < y.num_elements(); ++i)
      EXPECT_FLOAT_EQ(Values(y)[i] / scale, Values(right)[i]) << i;
  }
  for (const float tiny : {0.0f, 1e-40f}) {
    const Tensor y = RunSteadily(
        "_TenonQuantizedConv2D", ConvAttrs(0),
        {Floats(images.shape(), std::vector<float>(128, tiny)), filter, scales, zeros})[0];
    for (const float value : Values(y)) EXPECT_EQ(value, 0);
  }
}

TEST(QuantizedProducts, RefuseWhatIsWrong) {
  const Tensor a = Noise(Shape({2, 6}), 1), b = Bytes(Shape({6, 4}));
  const auto run = [&](float step, int64_t least, int64_t most, const Tensor& scales,
                       const Tensor& zeros) {
    const auto got = RunCpuKernel("_TenonQuantizedMatMul", ProductAttrs(step, least, most),
                                  {a, b, scales, zeros});
    return got.ok() ? std::string("OK") : std::string(got.status().message());
  };
  EXPECT_EQ(run(0.1f, -128, 127, Scales(4), Zeros(4)), "OK");
  EXPECT_THAT(run(-1, -128, 127, Scales(4), Zeros(4)), HasSubstr("step must be"));
  EXPECT_THAT(run(kNan, -128, 127, Scales(4), Zeros(4)), HasSubstr("step must be"));
  EXPECT_THAT(run(0.1f, -128, 128, Scales(4), Zeros(4)), HasSubstr("256 or fewer"));
  EXPECT_THAT(run(0.1f, 1, 5, Scales(4), Zeros(4)), HasSubstr("0 among them"));
  EXPECT_THAT(run(0.1f, std::numeric_limits<int64_t>::min(), 0, Scales(4), Zeros(4)),
              HasSubstr("256 or fewer"));
  EXPECT_THAT(run(0.1f, -128, 127, Scales(3), Zeros(4)), HasSubstr("need 4 values"));
  EXPECT_THAT(run(0.1f, -128, 127, Scales(4), Zeros(1)), HasSubstr("need 4 values"));
  const auto groups = RunCpuKernel(
      "_TenonQuantizedConv2D", ConvAttrs(0.1f),
      {Noise(Shape({1, 4, 4, 4}), 1), Bytes(Shape({3, 3, 2, 4})), Scales(4), Zeros(4)});
  EXPECT_EQ(groups.status().code(), absl::StatusCode::kUnimplemented) << groups.status();
}

TEST(QuantizedProducts, RefuseSumsThatMayNotFit32Bits) {
  const Tensor scales = Scales(1), zeros = Zeros(1);
  for (const int64_t terms : {kMostQuantizedTerms, kMostQuantizedTerms + 1}) {
    const auto product =
        RunCpuKernel("_TenonQuantizedMatMul", ProductAttrs(0.1f, -128, 127),
                     {Noise(Shape({1, terms}), 1), Bytes(Shape({terms, 1})), scales, zeros});
    const auto convolution = RunCpuKernel(
        "_TenonQuantizedConv2D", ConvAttrs(0.1f),
        {Noise(Shape({1, 1, 1, terms}), 1), Bytes(Shape({1, 1, terms, 1})), scales, zeros});
    for (const absl::Status& status : {product.status(), convolution.status()}) {
      EXPECT_EQ(status.ok(), terms <= kMostQuantizedTerms) << status;
      if (!status.ok()) EXPECT_THAT(std::string(status.message()), HasSubstr("may not fit"));
    }
  }
}

// --- The loops of every instruction set that the processor has.

std::vector<std::pair<std::string, const cpu::QuantizedLoops*>> AllQuantizedLoops() {
  std::vector<std::pair<std::string, const cpu::QuantizedLoops*>> all = {
      {"sse2", &cpu::sse2::kQuantizedLoops}};
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    all.emplace_back("avx2", &cpu::avx2::kQuantizedLoops);
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
    all.emplace_back("avx512", &cpu::avx512::kQuantizedLoops);
  return all;
}

TEST(QuantizedLoops, RoundAndScale) {
  for (const auto& [name, loops] : AllQuantizedLoops()) {
    for (const int64_t n : {0, 1, 3, 15, 16, 17, 70}) {
      SCOPED_TRACE(name + " " + std::to_string(n));
      std::vector<float> x(static_cast<size_t>(n));
      for (int64_t i = 0; i < n; ++i) x[i] = 0.37f * static_cast<float>(i) - 5;
      float low = 1, high = 1;
      loops->extremes(x.data(), n, &low, &high);
      EXPECT_EQ(low, n == 0 ? 0 : -5);
      EXPECT_EQ(high, n == 0 ? 0 : std::max(0.0f, x[n - 1]));
      std::vector<uint8_t> bytes(static_cast<size_t>(n) + 1, 77);
      EXPECT_TRUE(loops->to_bytes(x.data(), n, 2, -6, 20, bytes.data()));
      for (int64_t i = 0; i < n; ++i) {
        const double right = std::floor(std::min(20.0, std::max(-6.0, x[i] * 2.0)) + 6.5);
        EXPECT_EQ(bytes[i], right) << i;
      }
      EXPECT_EQ(bytes[n], 77);
      // Two rows, a number between them.
      const int64_t row = n + 1;
      std::vector<int32_t> sums(static_cast<size_t>(2 * row), 5), offsets(static_cast<size_t>(n));
      std::vector<float> scales(static_cast<size_t>(n)), bias(static_cast<size_t>(n)),
          add(static_cast<size_t>(2 * row)), y(static_cast<size_t>(2 * row), 77);
      for (int64_t i = 0; i < n; ++i) {
        sums[i] = static_cast<int32_t>(i * 1000 - 7), sums[row + i] = -sums[i];
        scales[i] = 0.5f + static_cast<float>(i), bias[i] = static_cast<float>(-i);
        add[i] = static_cast<float>(3 * i), add[row + i] = -2, offsets[i] = static_cast<int>(i - 4);
      }
      for (const bool all : {false, true}) {
        cpu::ScaledSums scaled = {sums.data(), row,           2,       n,       nullptr,
                                  0.25f,       scales.data(), nullptr, nullptr, -kInfinity,
                                  kInfinity,   y.data(),      row};
        if (all) {
          scaled.offsets = offsets.data(), scaled.bias = bias.data(), scaled.add = add.data();
          scaled.floor = -1000, scaled.ceiling = 50000;
        }
        loops->from_sums(scaled);
        for (int64_t i = 0; i < 2 * row; ++i) {
          const int64_t j = i % row;
          if (j == n) {
            EXPECT_EQ(y[i], 77);
            continue;
          }
          float right = static_cast<float>(sums[i] - (all ? offsets[j] : 0)) * (0.25f * scales[j]);
          if (all) right = std::clamp(right + bias[j] + add[i], -1000.0f, 50000.0f);
          EXPECT_FLOAT_EQ(y[i], right) << i;
        }
      }
      if (n > 0) {
        bias[0] = kNan;
        loops->from_sums({sums.data(), row, 2, n, nullptr, 1, scales.data(), bias.data(), nullptr,
                          0, 6, y.data(), row});
        EXPECT_TRUE(std::isnan(y[0]) && std::isnan(y[row]));
      }
      for (const float wrong : {kNan, kInfinity, -kInfinity}) {
        if (n == 0) continue;
        x[n - 1] = wrong;
        EXPECT_EQ(loops->to_bytes(x.data(), n, 2, -6, 20, bytes.data()), !std::isnan(wrong));
        loops->extremes(x.data(), n, &low, &high);
        EXPECT_TRUE(std::isnan(low) && std::isnan(high));
      }
    }
  }
}

}  // namespace quantized_test
}  // namespace tenon
