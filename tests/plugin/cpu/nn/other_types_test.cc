// Convolutions, pools and softmax of types other than float, at sizes around blocks and tiles.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "graph/op_defs/attr_value.h"
#include "plugin/cpu/base/element.h"
#include "tests/plugin/cpu/cpu_kernel_util.h"

namespace tenon {
namespace {

using testing::RunSteadily;

// -1, 0, 1 or 2: all types hold the sums of their products.
Tensor Numbers(DataType type, const Shape& shape, uint32_t seed) {
  std::vector<char> bytes(static_cast<size_t>(shape.num_elements()) * DataTypeSize(type));
  cpu::VisitElement(type, [&](auto store) {
    for (int64_t i = 0; i < shape.num_elements(); ++i) {
      seed = seed * 1664525u + 1013904223u;
      store.Put(bytes.data(), i, static_cast<double>(seed >> 30) - 1);
    }
  });
  return Tensor::CopyOf(type, shape, bytes.data(), bytes.size());
}

std::vector<double> DoublesOf(const Tensor& tensor) {
  std::vector<double> values;
  cpu::VisitElement(tensor.dtype(), [&](auto load) {
    for (int64_t i = 0; i < tensor.num_elements(); ++i)
      values.push_back(load.template As<double>(tensor.data(), i));
  });
  return values;
}

struct Sizes {
  int64_t height, width, in, groups, out, window, stride;
};

// VALID windows of an image of [1, height, width, in].
void CheckConv(DataType type, const Sizes& z) {
  SCOPED_TRACE(absl::StrCat(DataTypeName(type), " ", z.in, " to ", z.out, " in ", z.groups));
  const int64_t per_group = z.in / z.groups;
  const Tensor x = Numbers(type, Shape({1, z.height, z.width, z.in}), 3);
  const Tensor w = Numbers(type, Shape({z.window, z.window, per_group, z.out}), 4);
  const Tensor y = RunSteadily("Conv2D",
                               {{"T", attr::Type(type)},
                                {"strides", attr::IntList({1, z.stride, z.stride, 1})},
                                {"padding", attr::String("VALID")}},
                               {x, w}, {2, 5})[0];
  const int64_t rows = (z.height - z.window) / z.stride + 1,
                columns = (z.width - z.window) / z.stride + 1;
  ASSERT_EQ(y.shape(), Shape({1, rows, columns, z.out}));
  const std::vector<double> in = DoublesOf(x), filter = DoublesOf(w), got = DoublesOf(y);
  for (int64_t i = 0; i < y.num_elements(); ++i) {
    const int64_t o = i % z.out, column = i / z.out % columns, row = i / z.out / columns;
    const int64_t first = o / (z.out / z.groups) * per_group;
    double sum = 0;
    for (int64_t at = 0; at < z.window * z.window * per_group; ++at) {
      const int64_t c = at % per_group, dx = at / per_group % z.window,
                    dy = at / per_group / z.window;
      const int64_t place = (row * z.stride + dy) * z.width + column * z.stride + dx;
      sum += in[place * z.in + first + c] * filter[at * z.out + o];
    }
    ASSERT_EQ(got[i], sum) << i;
  }
}

TEST(ConvolutionsOfOtherTypes, AroundBlocksAndTiles) {
  for (const DataType type : {DataType::kDouble, DataType::kInt32}) {
    CheckConv(type, {14, 15, 40, 1, 19, 3, 1});  // 156 places, 360 numbers in a window
    CheckConv(type, {13, 12, 6, 2, 34, 3, 2});
    CheckConv(type, {9, 9, 3, 3, 6, 2, 1});
    CheckConv(type, {1, 1, 1, 1, 1, 1, 1});
  }
}

TEST(ConvolutionsOfOtherTypes, ByChannel) {
  for (const DataType type :
       {DataType::kFloat, DataType::kDouble, DataType::kHalf, DataType::kBfloat16}) {
    CheckConv(type, {13, 14, 21, 21, 21, 3, 1});
    CheckConv(type, {11, 12, 70, 70, 70, 5, 1});
    // So large that an image is computed in several parts.
    CheckConv(type, {41, 30, 70, 70, 70, 3, 1});
    CheckConv(type, {83, 40, 64, 64, 64, 3, 2});
    CheckConv(type, {60, 40, 64, 64, 64, 5, 1});
  }
}

// Windows of `z.window` places each way with SAME padding; every seventh element is NaN, which a
// maximum ignores and a mean does not.
void CheckPool(const std::string& op, DataType type, const Sizes& z, bool nans) {
  SCOPED_TRACE(absl::StrCat(op, " ", DataTypeName(type), " ", z.in, " channels, ", z.window));
  const bool max = op == "MaxPool";
  Tensor x = Numbers(type, Shape({2, z.height, z.width, z.in}), 3);
  std::vector<double> in = DoublesOf(x);
  for (size_t i = 0; nans && i < in.size(); i += 7) in[i] = std::nan("");
  cpu::VisitFloat(type, [&](auto store) {
    std::vector<char> bytes(in.size() * DataTypeSize(type));
    for (size_t i = 0; i < in.size(); ++i) store.Put(bytes.data(), static_cast<int64_t>(i), in[i]);
    x = Tensor::CopyOf(type, x.shape(), bytes.data(), bytes.size());
  });
  const auto list = [](int64_t n) { return attr::IntList({1, n, n, 1}); };
  const Tensor y = RunSteadily(op,
                               {{"T", attr::Type(type)},
                                {"ksize", list(z.window)},
                                {"strides", list(z.stride)},
                                {"padding", attr::String("SAME")}},
                               {x}, {2, 5})[0];
  const int64_t rows = (z.height + z.stride - 1) / z.stride,
                columns = (z.width + z.stride - 1) / z.stride;
  ASSERT_EQ(y.shape(), Shape({2, rows, columns, z.in}));
  const int64_t top = std::max<int64_t>(0, (rows - 1) * z.stride + z.window - z.height) / 2,
                left = std::max<int64_t>(0, (columns - 1) * z.stride + z.window - z.width) / 2;
  const std::vector<double> got = DoublesOf(y);
  for (int64_t i = 0; i < y.num_elements(); ++i) {
    const int64_t c = i % z.in, column = i / z.in % columns, row = i / z.in / columns % rows,
                  image = i / z.in / columns / rows;
    double most = -HUGE_VAL, sum = 0, count = 0;
    for (int64_t k = 0; k < z.window * z.window; ++k) {
      const int64_t down = row * z.stride - top + k / z.window,
                    across = column * z.stride - left + k % z.window;
      if (down < 0 || down >= z.height || across < 0 || across >= z.width) continue;
      const double v = in[((image * z.height + down) * z.width + across) * z.in + c];
      most = v > most ? v : most;
      sum += v, ++count;
    }
    const double mean = type == DataType::kDouble
                            ? sum / count
                            : static_cast<float>(sum) / static_cast<float>(count);
    double want = max ? most : mean;
    if (std::isinf(want)) continue;  // of nothing but NaN: the op cases' business
    if (std::isnan(want)) {
      ASSERT_TRUE(std::isnan(got[i])) << i;
      continue;
    }
    cpu::VisitFloat(type, [&](auto element) {
      char stored[8];
      element.Put(stored, 0, want);
      want = element.template As<double>(stored, 0);
    });
    ASSERT_EQ(got[i], want) << i;
  }
}

TEST(PoolsOfAllTypes, AroundVectorsOfChannels) {
  for (const DataType type :
       {DataType::kFloat, DataType::kDouble, DataType::kHalf, DataType::kBfloat16}) {
    for (const std::string op : {"MaxPool", "AvgPool"}) {
      for (const int64_t channels : {1, 21, 64, 135}) {
        CheckPool(op, type, {9, 10, channels, 1, channels, 3, 2}, false);
        CheckPool(op, type, {7, 5, channels, 1, channels, 2, 2}, true);
        CheckPool(op, type, {4, 6, channels, 1, channels, 4, 1}, true);
      }
    }
  }
}

// Both gradients of VALID windows with a step of 1.
void CheckGradients(DataType type, const Sizes& z) {
  SCOPED_TRACE(absl::StrCat(DataTypeName(type), " ", z.in, " to ", z.out, " in ", z.groups));
  const int64_t rows = z.height - z.window + 1, columns = z.width - z.window + 1;
  const int64_t per_group = z.in / z.groups, places = z.window * z.window;
  const Shape image({1, z.height, z.width, z.in}), weights({z.window, z.window, per_group, z.out});
  const Tensor x = Numbers(type, image, 6), w = Numbers(type, weights, 7);
  const Tensor dy = Numbers(type, Shape({1, rows, columns, z.out}), 8);
  const auto sizes = [](const Shape& shape) {
    const std::vector<int32_t> dims(shape.dims().begin(), shape.dims().end());
    return Tensor::Of<int32_t>(DataType::kInt32, dims, Shape({4}));
  };
  const testing::Attrs attrs = {{"T", attr::Type(type)},
                                {"strides", attr::IntList({1, 1, 1, 1})},
                                {"padding", attr::String("VALID")}};
  const Tensor dx = RunSteadily("Conv2DBackpropInput", attrs, {sizes(image), w, dy}, {2, 5})[0];
  const Tensor dw = RunSteadily("Conv2DBackpropFilter", attrs, {x, sizes(weights), dy}, {2, 5})[0];
  const std::vector<double> in = DoublesOf(x), filter = DoublesOf(w), slopes = DoublesOf(dy);
  std::vector<double> want_in(in.size()), want_filter(filter.size());
  for (size_t i = 0; i < slopes.size(); ++i) {
    const auto at = static_cast<int64_t>(i);
    const int64_t o = at % z.out, column = at / z.out % columns, row = at / z.out / columns;
    const int64_t first = o / (z.out / z.groups) * per_group;
    for (int64_t k = 0; k < places * per_group; ++k) {
      const int64_t c = k % per_group, place = k / per_group;
      const int64_t y = row + place / z.window, across = column + place % z.window;
      const int64_t from = (y * z.width + across) * z.in + first + c;
      want_in[from] += slopes[i] * filter[k * z.out + o];
      want_filter[k * z.out + o] += slopes[i] * in[from];
    }
  }
  EXPECT_EQ(DoublesOf(dx), want_in);
  EXPECT_EQ(DoublesOf(dw), want_filter);
}

TEST(ConvolutionsOfOtherTypes, Gradients) {
  for (const DataType type : {DataType::kDouble, DataType::kHalf}) {
    CheckGradients(type, {14, 15, 40, 1, 19, 3, 1});  // 156 places
    CheckGradients(type, {20, 19, 6, 2, 34, 3, 1});   // 306 places
    CheckGradients(type, {13, 14, 21, 21, 21, 3, 1});
    CheckGradients(type, {1, 1, 1, 1, 1, 1, 1});
  }
}

// Small and large images, channels and planes. The channel of element i is i / inner % count.
struct Channels {
  Shape shape;
  const char* format;
  int64_t count, inner;
};
std::vector<Channels> ChannelShapes() {
  return {{Shape({2, 7, 9, 40}), "NHWC", 40, 1},
          {Shape({1, 2, 3, 5000}), "NHWC", 5000, 1},
          {Shape({2, 30, 5, 5}), "NCHW", 30, 25},
          {Shape({2, 3, 50, 50}), "NCHW", 3, 2500}};
}

TEST(ChannelsOfOtherTypes, BiasAdd) {
  for (const DataType type : {DataType::kHalf, DataType::kBfloat16}) {
    for (const Channels& c : ChannelShapes()) {
      SCOPED_TRACE(absl::StrCat(DataTypeName(type), " ", c.shape.ToString()));
      const Tensor x = Numbers(type, c.shape, 3), bias = Numbers(type, Shape({c.count}), 4);
      const Tensor y =
          RunSteadily("BiasAdd", {{"T", attr::Type(type)}, {"data_format", attr::String(c.format)}},
                      {x, bias}, {2, 5})[0];
      const std::vector<double> in = DoublesOf(x), added = DoublesOf(bias), got = DoublesOf(y);
      for (int64_t i = 0; i < x.num_elements(); ++i)
        ASSERT_EQ(got[i], in[i] + added[i / c.inner % c.count]) << i;
    }
  }
}

TEST(ChannelsOfOtherTypes, FusedBatchNorm) {
  for (const DataType type : {DataType::kHalf, DataType::kBfloat16}) {
    for (const Channels& c : ChannelShapes()) {
      SCOPED_TRACE(absl::StrCat(DataTypeName(type), " ", c.shape.ToString()));
      const Tensor x = Numbers(type, c.shape, 3), side = Numbers(type, c.shape, 8);
      const Shape vector({c.count});
      const Tensor scale = Numbers(DataType::kFloat, vector, 4),
                   offset = Numbers(DataType::kFloat, vector, 5),
                   mean = Numbers(DataType::kFloat, vector, 6);
      const std::vector<float> ones(static_cast<size_t>(c.count), 1);
      const Tensor variance =
          Tensor::Of<float>(DataType::kFloat, absl::MakeConstSpan(ones), vector);
      const Tensor y = RunSteadily("_FusedBatchNormEx",
                                   {{"T", attr::Type(type)},
                                    {"U", attr::Type(DataType::kFloat)},
                                    {"epsilon", attr::Float(0)},
                                    {"is_training", attr::Bool(false)},
                                    {"data_format", attr::String(c.format)},
                                    {"num_side_inputs", attr::Int(1)},
                                    {"activation_mode", attr::String("Relu")}},
                                   {x, scale, offset, mean, variance, side}, {2, 5})[0];
      const std::vector<double> in = DoublesOf(x), add = DoublesOf(side), got = DoublesOf(y),
                                s = DoublesOf(scale), o = DoublesOf(offset), m = DoublesOf(mean);
      for (int64_t i = 0; i < x.num_elements(); ++i) {
        const int64_t k = i / c.inner % c.count;
        ASSERT_EQ(got[i], std::max(0.0, (in[i] - m[k]) * s[k] + o[k] + add[i])) << i;
      }
    }
  }
}

TEST(SoftmaxOfOtherTypes, OfManyRows) {
  for (const DataType type : {DataType::kDouble, DataType::kHalf, DataType::kBfloat16}) {
    for (const char* op : {"Softmax", "LogSoftmax"}) {
      SCOPED_TRACE(absl::StrCat(op, " ", DataTypeName(type)));
      const Tensor x = Numbers(type, Shape({300, 37}), 5);
      const Tensor y = RunSteadily(op, {{"T", attr::Type(type)}}, {x}, {2, 5})[0];
      const std::vector<double> in = DoublesOf(x), got = DoublesOf(y);
      const double tolerance = type == DataType::kDouble ? 1e-14
                               : type == DataType::kHalf ? 2e-3
                                                         : 2e-2;
      for (int64_t row = 0; row < 300; ++row) {
        double sum = 0;
        for (int64_t i = 0; i < 37; ++i) sum += std::exp(in[row * 37 + i]);
        for (int64_t i = row * 37; i < row * 37 + 37; ++i) {
          const double want = op[0] == 'L' ? in[i] - std::log(sum) : std::exp(in[i]) / sum;
          ASSERT_NEAR(got[i], want, tolerance * std::max(1.0, std::abs(want))) << i;
        }
      }
    }
  }
}

TEST(SoftmaxOfOtherTypes, OfNanIsNan) {
  const double values[] = {0, std::nan(""), 1, 0, 1, HUGE_VAL, 2, 3, 4};
  const Tensor x = Tensor::Of<double>(DataType::kDouble, values, Shape({3, 3}));
  const Tensor y = RunSteadily("Softmax", {{"T", attr::Type(DataType::kDouble)}}, {x})[0];
  for (int i = 0; i < 6; ++i) EXPECT_TRUE(std::isnan(y.flat<double>()[i])) << i;
  EXPECT_NEAR(y.flat<double>()[8], 0.6652409557748218, 1e-14);
}

TEST(SoftmaxOfOtherTypes, OfDistantNumbers) {
  // Results of every size down to the least normal number; 0 below.
  std::vector<double> values;
  for (int i = 0; i < 741; ++i) values.push_back(100 - i);
  values.push_back(-HUGE_VAL);
  const auto n = static_cast<int64_t>(values.size());
  const Tensor x =
      Tensor::Of<double>(DataType::kDouble, absl::MakeConstSpan(values), Shape({1, n}));
  const Tensor y = RunSteadily("Softmax", {{"T", attr::Type(DataType::kDouble)}}, {x})[0];
  const double sum = 1 / (1 - std::exp(-1));
  for (int64_t i = 0; i < n; ++i) {
    const double want = i > 707 ? 0 : std::exp(static_cast<double>(-i)) / sum;
    ASSERT_NEAR(y.flat<double>()[i], want, 1e-14 * want) << i;
  }
}

}  // namespace
}  // namespace tenon
