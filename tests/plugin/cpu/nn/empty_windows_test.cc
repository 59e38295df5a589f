// Windows that are too large for the input, by less than two strides: they have no places, so that
// outputs are empty and gradients are 0. Larger ones are refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "tests/plugin/cpu/float_op_util.h"

namespace tenon::testing {
namespace {

using ::testing::Each;

Tensor Ones(const Shape& shape) {
  return Floats(shape, std::vector<float>(static_cast<size_t>(shape.num_elements()), 1));
}
struct Call {
  std::string op;
  Attrs attrs;
  std::vector<Tensor> inputs;
  Shape output;
};

// An input of [1, 6, 1, 2], a window of 4 rows and 2 columns.
std::vector<Call> ImageCalls() {
  Attrs attrs = {{"strides", attr::IntList({1, 1, 1, 1})}, {"padding", attr::String("VALID")}};
  const auto with = [&](const std::string& name, const std::vector<int64_t>& values) {
    Attrs more = attrs;
    more[name] = attr::IntList(values);
    return more;
  };
  const Attrs pool = with("ksize", {1, 4, 2, 1}), dilate = with("rates", {1, 1, 1, 1});
  Attrs patches = with("ksizes", {1, 4, 2, 1});
  patches["rates"] = dilate.at("rates");
  const Tensor x = Ones(Shape({1, 6, 1, 2})), y = Ones(Shape({1, 3, 0, 2}));
  const Tensor filter = Ones(Shape({4, 2, 2, 2})), wide = Ones(Shape({1, 3, 0, 4}));
  const Tensor dilation = Ones(Shape({4, 2, 2}));
  return {
      {"MaxPool", pool, {x}, y.shape()},
      {"AvgPool", pool, {x}, y.shape()},
      {"MaxPoolGrad", pool, {x, y, y}, x.shape()},
      {"MaxPoolGradGrad", pool, {x, y, x}, y.shape()},
      {"AvgPoolGrad", pool, {SizesOf(x), y}, x.shape()},
      {"Conv2D", attrs, {x, filter}, y.shape()},
      {"Conv2DBackpropInput", attrs, {SizesOf(x), filter, y}, x.shape()},
      {"Conv2DBackpropFilter", attrs, {x, SizesOf(filter), y}, filter.shape()},
      {"DepthwiseConv2dNative", attrs, {x, filter}, wide.shape()},
      {"DepthwiseConv2dNativeBackpropInput", attrs, {SizesOf(x), filter, wide}, x.shape()},
      {"DepthwiseConv2dNativeBackpropFilter", attrs, {x, SizesOf(filter), wide}, filter.shape()},
      {"ExtractImagePatches", patches, {x}, Shape({1, 3, 0, 16})},
      {"Dilation2D", dilate, {x, dilation}, y.shape()},
      {"Dilation2DBackpropInput", dilate, {x, dilation, y}, x.shape()},
      {"Dilation2DBackpropFilter", dilate, {x, dilation, y}, dilation.shape()},
  };
}

// An input of [1, 6, 1, 3, 2], a window of 4 planes, 2 rows and 3 columns.
std::vector<Call> VolumeCalls() {
  const Attrs attrs = {{"strides", attr::IntList({1, 1, 1, 1, 1})},
                       {"padding", attr::String("VALID")}};
  Attrs pool = attrs, patches = attrs;
  pool["ksize"] = patches["ksizes"] = attr::IntList({1, 4, 2, 3, 1});
  const Tensor x = Ones(Shape({1, 6, 1, 3, 2})), y = Ones(Shape({1, 3, 0, 1, 2}));
  const Tensor filter = Ones(Shape({4, 2, 3, 2, 2}));
  return {
      {"MaxPool3D", pool, {x}, y.shape()},
      {"AvgPool3D", pool, {x}, y.shape()},
      {"MaxPool3DGrad", pool, {x, y, y}, x.shape()},
      {"AvgPool3DGrad", pool, {SizesOf(x), y}, x.shape()},
      {"Conv3D", attrs, {x, filter}, y.shape()},
      {"Conv3DBackpropInputV2", attrs, {SizesOf(x), filter, y}, x.shape()},
      {"Conv3DBackpropFilterV2", attrs, {x, SizesOf(filter), y}, filter.shape()},
      {"ExtractVolumePatches", patches, {x}, Shape({1, 3, 0, 1, 48})},
  };
}

TEST(EmptyWindows, GiveEmptyOutputsAndNoGradients) {
  for (const auto& calls : {ImageCalls(), VolumeCalls()}) {
    for (const Call& call : calls) {
      SCOPED_TRACE(call.op);
      const Tensor got = RunEveryWay(call.op, call.attrs, call.inputs);
      EXPECT_EQ(got.shape(), call.output);
      EXPECT_THAT(Values(got), Each(0));
    }
  }
}

TEST(EmptyWindows, HaveNoPositions) {
  const auto got = RunCpuKernel("MaxPoolWithArgmax",
                                {{"T", attr::Type(DataType::kFloat)},
                                 {"Targmax", attr::Type(DataType::kInt64)},
                                 {"ksize", attr::IntList({1, 1, 2, 1})},
                                 {"strides", attr::IntList({1, 1, 1, 1})},
                                 {"padding", attr::String("VALID")}},
                                {Ones(Shape({1, 6, 1, 2}))});
  ASSERT_TRUE(got.ok()) << got.status();
  for (const Tensor& t : *got) EXPECT_EQ(t.shape(), Shape({1, 6, 0, 2}));
}

// Padding alone gives windows to an input without places: the least value of the type, as in
// TensorFlow.
template <typename T>
void ExpectLeast(DataType type, T least) {
  for (const Shape& shape : {Shape({1, 0, 5, 2}), Shape({1, 5, 0, 2})}) {
    const auto got = RunCpuKernel("MaxPool",
                                  {{"T", attr::Type(type)},
                                   {"ksize", attr::IntList({1, 3, 3, 1})},
                                   {"strides", attr::IntList({1, 1, 1, 1})},
                                   {"padding", attr::String("EXPLICIT")},
                                   {"explicit_paddings", attr::IntList({0, 0, 2, 2, 2, 2, 0, 0})}},
                                  {*Tensor::Allocate(type, shape)});
    ASSERT_TRUE(got.ok()) << got.status();
    const Tensor& y = got->front();
    EXPECT_EQ(y.shape(), shape.dim(1) == 0 ? Shape({1, 2, 7, 2}) : Shape({1, 7, 2, 2}));
    const auto* const values = static_cast<const T*>(y.data());
    EXPECT_THAT(std::vector<T>(values, values + y.num_elements()), Each(least)) << DataTypeName(type);
  }
}

TEST(MaxPool, OfPaddingAloneIsTheLeastValue) {
  ExpectLeast(DataType::kFloat, std::numeric_limits<float>::lowest());
  ExpectLeast(DataType::kDouble, std::numeric_limits<double>::lowest());
  ExpectLeast(DataType::kInt32, std::numeric_limits<int32_t>::min());
  ExpectLeast(DataType::kBfloat16, uint16_t{0xff7f});
}

TEST(Pools, OfNegativeSizesAreInvalid) {
  for (const auto& [ksize, strides] : {std::pair(Int32s({-1, 1, 1, 1}), Int32s({1, 1, 1, 1})),
                                       std::pair(Int32s({1, 1, 1, 1}), Int32s({1, 1, 1, -1}))}) {
    const auto got = RunCpuKernel(
        "MaxPoolV2", {{"T", attr::Type(DataType::kFloat)}, {"padding", attr::String("VALID")}},
        {Ones(Shape({1, 6, 1, 2})), ksize, strides});
    EXPECT_EQ(got.status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(got.status().message(), ::testing::HasSubstr("must be positive, not -1"));
  }
}

// (1 - size + stride) / stride is cut off towards 0.
TEST(EmptyWindows, AreRefusedBeyondTwoStrides) {
  const auto pool = [](int64_t size, int64_t stride) {
    return RunCpuKernel("AvgPool",
                        {{"T", attr::Type(DataType::kFloat)},
                         {"ksize", attr::IntList({1, 1, size, 1})},
                         {"strides", attr::IntList({1, 1, stride, 1})},
                         {"padding", attr::String("VALID")}},
                        {Ones(Shape({1, 6, 1, 2}))})
        .status();
  };
  EXPECT_TRUE(pool(2, 1).ok()) << pool(2, 1);
  EXPECT_TRUE(pool(6, 3).ok()) << pool(6, 3);
  for (const auto& [size, stride] : {std::pair(3, 1), std::pair(7, 3)}) {
    EXPECT_EQ(pool(size, stride).code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(pool(size, stride).message(), ::testing::HasSubstr("has -1 places"));
  }
}

}  // namespace
}  // namespace tenon::testing
