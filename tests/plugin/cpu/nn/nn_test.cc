// Products, convolutions and poolings that are large enough to be split over threads: right, and
// the same bits whatever the number of threads. Small ones are the op cases' business.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "plugin/cpu/linalg/products/fused_ops.h"
#include "tests/plugin/cpu/float_op_util.h"

namespace tenon::testing {
namespace {

struct ProductCase {
  int64_t m, n, k;
  bool transpose_a, transpose_b;
};

class Products : public ::testing::TestWithParam<ProductCase> {};

TEST_P(Products, AreRightWhateverTheThreads) {
  const ProductCase& c = GetParam();
  const Tensor a = Noise(c.transpose_a ? Shape({c.k, c.m}) : Shape({c.m, c.k}), 1);
  const Tensor b = Noise(c.transpose_b ? Shape({c.n, c.k}) : Shape({c.k, c.n}), 2);
  const Tensor bias = Noise(Shape({c.n}), 3), add = Noise(Shape({c.m, c.n}), 4);
  const Attrs attrs = {{"transpose_a", attr::Bool(c.transpose_a)},
                       {"transpose_b", attr::Bool(c.transpose_b)},
                       {"num_args", attr::Int(2)},
                       {"fused_ops", attr::StringList({"BiasAdd", "Add", "Relu"})}};

  const Tensor got = RunEveryWay("_FusedMatMul", attrs, {a, b, bias, add});

  ASSERT_EQ(got.shape(), Shape({c.m, c.n}));
  const double tolerance = 1e-6 * std::sqrt(static_cast<double>(c.k)) + 1e-6;
  for (int64_t at = 0; at < c.m * c.n; at += 37) {
    const int64_t i = at / c.n, j = at % c.n;
    double want = bias.flat<float>()[j] + add.flat<float>()[at];
    for (int64_t p = 0; p < c.k; ++p) {
      want += 1.0 * a.flat<float>()[c.transpose_a ? p * c.m + i : i * c.k + p] *
              b.flat<float>()[c.transpose_b ? j * c.k + p : p * c.n + j];
    }
    ASSERT_NEAR(got.flat<float>()[at], std::max(want, 0.0), tolerance) << i << "," << j;
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, Products,
                         ::testing::Values(ProductCase{128, 768, 256, false, false},
                                           ProductCase{61, 515, 1000, false, true},
                                           ProductCase{700, 70, 333, true, false},
                                           ProductCase{1, 1000, 999, false, false},
                                           ProductCase{2, 4096, 512, false, false}));

// Large enough for oneDNN, of which not every activation is taken; cut by rows and by columns.
TEST(ProductsThenActivations, AreRightWhateverTheThreads) {
  for (const auto& [m, n, k] : {std::array{300, 150, 400}, std::array{40, 1100, 500}}) {
    const Tensor a = Noise(Shape({m, k}), 1), b = Noise(Shape({k, n}), 2);
    const Tensor bias = Noise(Shape({n}), 3), add = Noise(Shape({m, n}), 4);
    for (const std::string name : {"Tanh", "GeluApproximate", "GeluExact"}) {
      const Attrs attrs = {{"num_args", attr::Int(2)},
                           {"fused_ops", attr::StringList({"BiasAdd", "Add", name})}};
      const Tensor got = RunEveryWay("_FusedMatMul", attrs, {a, b, bias, add});
      const cpu::Activation activation = cpu::ActivationNamed(name).value();
      for (int64_t at = 0; at < got.num_elements(); at += 101) {
        double sum = bias.flat<float>()[at % n] + add.flat<float>()[at];
        for (int64_t p = 0; p < k; ++p)
          sum += 1.0 * a.flat<float>()[at / n * k + p] * b.flat<float>()[p * n + at % n];
        ASSERT_NEAR(got.flat<float>()[at], cpu::Activate(activation, 0, sum), 1e-4) << name << at;
      }
    }
  }
}

// Bound by memory, not oneDNN's, and small ones that are; with each activation.
TEST(RowsTimesMatrices, AreRightWhateverTheThreads) {
  constexpr ProductCase kCases[] = {{1, 1000, 999, false, false}, {1, 999, 1000, false, true},
                                    {1, 70, 2048, true, false},   {1, 3, 5, false, true},
                                    {3, 130, 7, false, true},     {8, 64, 128, false, true},
                                    {30, 21, 70, true, false}};
  constexpr std::string_view kActivations[] = {"Relu",  "Relu6",     "Elu",       "LeakyRelu",
                                               "Tanh",  "Sigmoid",   "GeluExact", "GeluApproximate",
                                               "Swish", "HardSwish", "Mish"};
  for (const ProductCase& c : kCases) {
    const Tensor a = Noise(c.transpose_a ? Shape({c.k, c.m}) : Shape({c.m, c.k}), 1);
    const Tensor b = Noise(c.transpose_b ? Shape({c.n, c.k}) : Shape({c.k, c.n}), 2);
    const Tensor bias = Noise(Shape({c.n}), 3);
    std::vector<double> sums;
    for (int64_t at = 0; at < c.m * c.n; ++at) {
      const int64_t i = at / c.n, j = at % c.n;
      sums.push_back(bias.flat<float>()[j]);
      for (int64_t p = 0; p < c.k; ++p) {
        sums.back() += 1.0 * a.flat<float>()[c.transpose_a ? p * c.m + i : i * c.k + p] *
                       b.flat<float>()[c.transpose_b ? j * c.k + p : p * c.n + j];
      }
    }
    for (const std::string_view name : kActivations) {
      const Attrs attrs = {{"transpose_a", attr::Bool(c.transpose_a)},
                           {"transpose_b", attr::Bool(c.transpose_b)},
                           {"num_args", attr::Int(1)},
                           {"leakyrelu_alpha", attr::Float(0.3F)},
                           {"fused_ops", attr::StringList({"BiasAdd", std::string(name)})}};
      const Tensor got = RunEveryWay("_FusedMatMul", attrs, {a, b, bias});
      const cpu::Activation activation = cpu::ActivationNamed(name).value();
      for (int64_t at = 0; at < c.m * c.n; ++at) {
        ASSERT_NEAR(got.flat<float>()[at], cpu::Activate(activation, 0.3F, sums[at]), 2e-4)
            << name << " " << at;
      }
    }
  }
}

// Sums that are too small for a float. The last of five rows is computed unlike the others.
TEST(RowsTimesMatrices, HaveZerosOfOneSign) {
  const Tensor a = Floats(Shape({5, 1}), std::vector<float>(5, -1e-30F)),
               b = Floats(Shape({1, 300}), std::vector<float>(300, 1e-30F));
  const Tensor got = RunEveryWay(
      "MatMul", {{"transpose_a", attr::Bool(false)}, {"transpose_b", attr::Bool(false)}}, {a, b});
  for (const float x : Values(got)) EXPECT_FALSE(std::signbit(x)) << x;
}

struct ConvCase {
  int64_t batch, size, in, out, filter, stride, dilation;
  const char* padding;
};

class Convolutions : public ::testing::TestWithParam<ConvCase> {};

TEST_P(Convolutions, AreRightWhateverTheThreads) {
  const ConvCase& c = GetParam();
  const Tensor x = Noise(Shape({c.batch, c.size, c.size, c.in}), 1);
  const Tensor w = Noise(Shape({c.filter, c.filter, c.in, c.out}), 2),
               bias = Noise(Shape({c.out}), 3);
  const Attrs attrs = {{"strides", attr::IntList({1, c.stride, c.stride, 1})},
                       {"dilations", attr::IntList({1, c.dilation, c.dilation, 1})},
                       {"padding", attr::String(c.padding)},
                       {"num_args", attr::Int(1)},
                       {"TArgs", attr::TypeList({DataType::kFloat})},
                       {"fused_ops", attr::StringList({"BiasAdd"})}};

  const Tensor got = RunEveryWay("_FusedConv2D", attrs, {x, w, bias});

  ASSERT_EQ(got.shape().rank(), 4);
  const int64_t extent = (c.filter - 1) * c.dilation + 1, rows = got.shape().dim(1);
  const int64_t before = std::string(c.padding) == "SAME"
                             ? std::max<int64_t>(0, (rows - 1) * c.stride + extent - c.size) / 2
                             : 0;
  for (int64_t at = 0; at < got.num_elements(); at += 101) {
    const int64_t o = at % c.out, q = at / c.out % rows, r = at / c.out / rows % rows,
                  n = at / c.out / rows / rows;
    double want = bias.flat<float>()[o];
    for (int64_t i = 0; i < c.filter; ++i) {
      for (int64_t j = 0; j < c.filter; ++j) {
        const int64_t y = r * c.stride - before + i * c.dilation,
                      z = q * c.stride - before + j * c.dilation;
        if (y < 0 || z < 0 || y >= c.size || z >= c.size) continue;
        for (int64_t p = 0; p < c.in; ++p) {
          want += 1.0 * x.flat<float>()[((n * c.size + y) * c.size + z) * c.in + p] *
                  w.flat<float>()[((i * c.filter + j) * c.in + p) * c.out + o];
        }
      }
    }
    ASSERT_NEAR(got.flat<float>()[at], want, 1e-5 * std::abs(want) + 1e-4)
        << n << "," << r << "," << q << "," << o;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, Convolutions,
    ::testing::Values(
        ConvCase{1, 56, 64, 64, 3, 1, 1, "SAME"}, ConvCase{1, 57, 3, 64, 7, 2, 1, "SAME"},
        ConvCase{1, 28, 128, 256, 1, 2, 1, "VALID"}, ConvCase{1, 28, 512, 64, 1, 2, 1, "SAME"},
        ConvCase{1, 28, 128, 256, 1, 1, 1, "VALID"}, ConvCase{1, 7, 512, 512, 3, 1, 1, "SAME"},
        ConvCase{3, 31, 40, 50, 3, 2, 1, "VALID"}, ConvCase{20, 15, 64, 40, 3, 1, 1, "SAME"},
        ConvCase{1, 33, 64, 64, 3, 1, 2, "SAME"}, ConvCase{2, 29, 16, 70, 13, 1, 1, "SAME"},
        ConvCase{1, 40, 64, 3, 9, 1, 2, "SAME"}, ConvCase{1, 26, 50, 4, 11, 1, 1, "SAME"},
        ConvCase{2, 25, 40, 1, 9, 2, 1, "VALID"}, ConvCase{1, 27, 33, 2, 10, 1, 1, "SAME"},
        ConvCase{3, 37, 3, 17, 12, 3, 2, "VALID"}));

TEST(BatchedProducts, AreTheSameWhateverTheThreads) {
  const Tensor x = Noise(Shape({12, 128, 64}), 1), y = Noise(Shape({12, 128, 64}), 2),
               z = Noise(Shape({1, 64, 96}), 3);
  RunEveryWay("BatchMatMulV2", {{"adj_x", attr::Bool(false)}, {"adj_y", attr::Bool(true)}}, {x, y});
  RunEveryWay("BatchMatMulV2", {{"adj_x", attr::Bool(true)}, {"adj_y", attr::Bool(false)}}, {x, y});
  RunEveryWay("BatchMatMulV2", {{"adj_x", attr::Bool(false)}, {"adj_y", attr::Bool(false)}},
              {x, z});
}

// The bits that BatchMatMulV2, Mul and Add give one after the other.
TEST(ScaledProducts, AreTheSameWhateverTheThreads) {
  struct Case {
    Shape x, y, addend;
  };
  const Case cases[] = {{Shape({2, 12, 64, 64}), Shape({2, 12, 64, 96}), Shape({2, 1, 1, 96})},
                        {Shape({2, 1, 64, 64}), Shape({1, 12, 64, 96}), Shape({2, 1, 64, 96})},
                        {Shape({1, 3, 7, 12}), Shape({1, 3, 12, 5}), Shape({1, 1, 7, 1})},
                        {Shape({1, 1, 300, 64}), Shape({1, 1, 64, 900}), Shape({1, 1, 300, 900})},
                        {Shape({1, 2, 1, 64}), Shape({1, 2, 64, 3000}), Shape({1, 1, 1, 3000})}};
  const Attrs adjoint = {{"adj_x", attr::Bool(false)}, {"adj_y", attr::Bool(false)}};
  Attrs fused = adjoint;
  fused.emplace("fused_ops", attr::StringList({"Mul", "Add"}));
  fused.emplace("num_args", attr::Int(2));
  for (const Case& c : cases) {
    const Tensor x = Noise(c.x, 1), y = Noise(c.y, 2), addend = Noise(c.addend, 3);
    const Tensor factor = Floats(Shape(), {0.3F});
    const Tensor product = RunEveryWay("BatchMatMulV2", adjoint, {x, y});
    const Tensor want =
        RunEveryWay("AddV2", {}, {RunEveryWay("Mul", {}, {product, factor}), addend});
    const Tensor got = RunEveryWay("_MklFusedBatchMatMulV2", fused, {x, y, factor, addend});
    EXPECT_EQ(got.shape(), product.shape());
    EXPECT_EQ(Values(got), Values(want)) << c.x.ToString();
  }
}

TEST(Pools, AreTheSameWhateverTheThreads) {
  const Attrs attrs = {{"ksize", attr::IntList({1, 3, 3, 1})},
                       {"strides", attr::IntList({1, 2, 2, 1})},
                       {"padding", attr::String("SAME")}};
  for (const char* op : {"MaxPool", "AvgPool"}) {
    RunEveryWay(op, attrs, {Noise(Shape({1, 113, 112, 64}), 1)});
    RunEveryWay(op, attrs, {Noise(Shape({17, 40, 41, 24}), 1)});
  }
}

// In half, which no pooling of oneDNN takes.
TEST(Pools, OfVolumesPassOverNanAndKeepInfinities) {
  constexpr uint16_t kNan = 0x7e00, kMinusInf = 0xfc00, kTwo = 0x4000, kThree = 0x4200;
  const std::vector<uint16_t> values = {kNan, kTwo, kMinusInf, kMinusInf, kThree, kNan};
  const auto pooled =
      RunCpuKernel("MaxPool3D",
                   {{"T", attr::Type(DataType::kHalf)},
                    {"ksize", attr::IntList({1, 1, 1, 2, 1})},
                    {"strides", attr::IntList({1, 1, 1, 2, 1})},
                    {"padding", attr::String("VALID")}},
                   {Tensor::Of<uint16_t>(DataType::kHalf, values, Shape({1, 1, 1, 6, 1}))});
  ASSERT_TRUE(pooled.ok()) << pooled.status();
  const auto* const got = (*pooled)[0].flat<uint16_t>();
  EXPECT_THAT(absl::MakeConstSpan(got, 3), ::testing::ElementsAre(kTwo, kMinusInf, kThree));
}

struct DepthwiseCase {
  int64_t batch, rows, columns, channels, filter, stride, dilation;
  const char* padding;
};

class DepthwiseConvolutions : public ::testing::TestWithParam<DepthwiseCase> {};

TEST_P(DepthwiseConvolutions, AreRightWhateverTheThreads) {
  const DepthwiseCase& c = GetParam();
  const Tensor x = Noise(Shape({c.batch, c.rows, c.columns, c.channels}), 1),
               w = Noise(Shape({c.filter, c.filter, c.channels, 1}), 2);
  std::vector<Tensor> norm;  // scale, offset, mean, variance
  for (uint32_t i = 0; i < 4; ++i) norm.push_back(Noise(Shape({c.channels}), 3 + i));
  for (int64_t k = 0; k < c.channels; ++k) norm[3].flat<float>()[k] += 1.5f;
  Attrs attrs = {{"strides", attr::IntList({1, c.stride, c.stride, 1})},
                 {"dilations", attr::IntList({1, c.dilation, c.dilation, 1})},
                 {"padding", attr::String(c.padding)}};
  const Tensor plain = RunEveryWay("DepthwiseConv2dNative", attrs, {x, w});
  attrs["num_args"] = attr::Int(1);
  attrs["fused_ops"] = attr::StringList({"BiasAdd", "Relu6"});
  const Tensor biased = RunEveryWay("_FusedDepthwiseConv2dNative", attrs, {x, w, norm[0]});
  attrs["num_args"] = attr::Int(4);
  attrs["epsilon"] = attr::Float(0.001f);
  attrs["fused_ops"] = attr::StringList({"FusedBatchNorm", "Relu"});
  const Tensor normal =
      RunEveryWay("_FusedDepthwiseConv2dNative", attrs, {x, w, norm[0], norm[1], norm[2], norm[3]});

  const int64_t rows = plain.shape().dim(1), columns = plain.shape().dim(2);
  const int64_t extent = (c.filter - 1) * c.dilation + 1;
  const auto before = [&](int64_t in, int64_t out) {
    const bool same = std::string(c.padding) == "SAME";
    return same ? std::max<int64_t>(0, (out - 1) * c.stride + extent - in) / 2 : 0;
  };
  for (int64_t at = 0; at < plain.num_elements(); ++at) {
    const int64_t k = at % c.channels, q = at / c.channels % columns,
                  r = at / c.channels / columns % rows, n = at / c.channels / columns / rows;
    double want = 0;
    for (int64_t i = 0; i < c.filter; ++i) {
      for (int64_t j = 0; j < c.filter; ++j) {
        const int64_t y = r * c.stride - before(c.rows, rows) + i * c.dilation,
                      z = q * c.stride - before(c.columns, columns) + j * c.dilation;
        if (y < 0 || z < 0 || y >= c.rows || z >= c.columns) continue;
        want += 1.0 * x.flat<float>()[((n * c.rows + y) * c.columns + z) * c.channels + k] *
                w.flat<float>()[(i * c.filter + j) * c.channels + k];
      }
    }
    const auto of = [&](int i) -> double { return norm[i].flat<float>()[k]; };
    const double with_bias = std::clamp(want + of(0), 0.0, 6.0),
                 with_norm = (want - of(2)) / std::sqrt(of(3) + 0.001) * of(0) + of(1);
    ASSERT_NEAR(plain.flat<float>()[at], want, 1e-5) << n << "," << r << "," << q << "," << k;
    ASSERT_NEAR(biased.flat<float>()[at], with_bias, 1e-5) << n << "," << r << "," << q;
    ASSERT_NEAR(normal.flat<float>()[at], std::max(with_norm, 0.0), 4e-5) << n << "," << r;
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, DepthwiseConvolutions,
                         ::testing::Values(DepthwiseCase{1, 56, 56, 96, 3, 1, 1, "SAME"},
                                           DepthwiseCase{2, 7, 5, 24, 3, 2, 1, "SAME"},
                                           DepthwiseCase{1, 9, 4, 40, 5, 1, 1, "SAME"},
                                           DepthwiseCase{3, 11, 13, 19, 5, 2, 1, "VALID"},
                                           DepthwiseCase{2, 1, 6, 8, 3, 1, 1, "SAME"},
                                           DepthwiseCase{1, 2, 4, 65, 5, 2, 1, "SAME"},
                                           DepthwiseCase{1, 6, 7, 16, 3, 1, 1, "VALID"},
                                           DepthwiseCase{1, 9, 3, 16, 3, 1, 1, "SAME"},
                                           DepthwiseCase{1, 20, 20, 33, 3, 1, 2, "SAME"},
                                           DepthwiseCase{1, 20, 20, 16, 7, 1, 1, "SAME"}));

TEST(DepthwiseMultipliers, OfSeveralOutputsForEachInput) {
  const Attrs attrs = {{"strides", attr::IntList({1, 1, 1, 1})}, {"padding", attr::String("SAME")}};
  RunEveryWay("DepthwiseConv2dNative", attrs,
              {Noise(Shape({2, 56, 56, 60}), 1), Noise(Shape({5, 5, 60, 2}), 2)});
}

TEST(CrossEntropies, BroadcastToMatrices) {
  const auto run = [](const Tensor& logits, const Tensor& labels) {
    return RunSteadily("SoftmaxCrossEntropyWithLogits", {{"T", attr::Type(DataType::kFloat)}},
                       {logits, labels});
  };
  const Tensor logits = Floats(Shape({2, 3}), {1, -2, 3, 0.5, 4, -1});
  const Tensor vector = Floats(Shape({3}), {0.2f, 0.3f, 0.5f}), scalar = Floats(Shape(), {0.25f});
  const Tensor rows = Floats(Shape({2, 3}), {0.2f, 0.3f, 0.5f, 0.2f, 0.3f, 0.5f});
  const Tensor quarters = Floats(Shape({2, 3}), std::vector<float>(6, 0.25f));
  for (int i : {0, 1}) {
    EXPECT_EQ(Values(run(logits, vector)[i]), Values(run(logits, rows)[i]));
    EXPECT_EQ(Values(run(vector, logits)[i]), Values(run(rows, logits)[i]));
    EXPECT_EQ(Values(run(logits, scalar)[i]), Values(run(logits, quarters)[i]));
    EXPECT_EQ(Values(run(scalar, logits)[i]), Values(run(quarters, logits)[i]));
  }
  const auto vectors = RunCpuKernel("SoftmaxCrossEntropyWithLogits",
                                    {{"T", attr::Type(DataType::kFloat)}}, {vector, vector});
  EXPECT_EQ(vectors.status().code(), absl::StatusCode::kInvalidArgument);
}

TEST(Softmaxes, SumToOneWhateverTheThreads) {
  for (int64_t n : {1, 5, 16, 31, 128, 1000}) {
    const Tensor x = Noise(Shape({200, n}), 1);
    for (int64_t i = 0; i < x.num_elements(); ++i) x.flat<float>()[i] *= 60;
    const Tensor y = RunEveryWay("Softmax", {}, {x});
    const Tensor log = RunEveryWay("LogSoftmax", {}, {x});
    for (int64_t r = 0; r < 200; ++r) {
      // The difference to the maximum is rounded to float, as in TensorFlow; the rest must be
      // nearly exact.
      float max = -1e9;
      double total = 0;
      for (int64_t i = r * n; i < (r + 1) * n; ++i) max = std::max(max, x.flat<float>()[i]);
      for (int64_t i = r * n; i < (r + 1) * n; ++i)
        total += std::exp(double{x.flat<float>()[i] - max});
      for (int64_t i = r * n; i < (r + 1) * n; ++i) {
        const double difference = x.flat<float>()[i] - max, want = std::exp(difference) / total;
        ASSERT_NEAR(y.flat<float>()[i], want, 4e-7 * want + 2e-38);
        ASSERT_NEAR(log.flat<float>()[i], difference - std::log(total), 2e-5);
      }
    }
  }
}

// Few heads, so that several threads share the rows of one.
TEST(Attention, HasTheSameBitsWhateverTheThreads) {
  for (const auto& [batch, heads, rows, keys, depth] :
       {std::array{1, 12, 128, 128, 64}, std::array{2, 1, 301, 77, 40},
        std::array{1, 3, 5, 200, 16}, std::array{1, 1, 1000, 33, 7}}) {
    const std::vector<Tensor> inputs = {
        Noise(Shape({batch, heads, rows, depth}), 1), Noise(Shape({batch, heads, keys, depth}), 2),
        Noise(Shape({batch, heads, keys, depth}), 3), Noise(Shape({batch, 1, rows, keys}), 4)};
    RunEveryWay("_TenonAttention",
                {{"scale", attr::Float(0.3F)}, {"heads_first", attr::Bool(true)}}, inputs);
  }
}

}  // namespace
}  // namespace tenon::testing
