// Gradients and recurrent cells that are large enough to be split over threads: the same bits
// whatever the number of threads; gradients of convolutions are right where the convolutions are.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "tests/plugin/cpu/cpu_kernel_util.h"
#include "tests/plugin/cpu/float_op_util.h"

namespace tenon::testing::nn_grad_test {
namespace {

double Dot(const Tensor& a, const Tensor& b) {
  EXPECT_EQ(a.shape(), b.shape());
  double sum = 0;
  for (int64_t i = 0; i < a.num_elements(); ++i)
    sum += 1.0 * a.flat<float>()[i] * b.flat<float>()[i];
  return sum;
}

double Sum(const Tensor& t) {
  double sum = 0;
  for (int64_t i = 0; i < t.num_elements(); ++i) sum += t.flat<float>()[i];
  return sum;
}

struct GradCase {
  std::string op, input_grad, filter_grad;
  Shape input, filter;
  int stride;
  const char* padding;
  const char* format;
};

class ConvolutionGradients : public ::testing::TestWithParam<GradCase> {};

// A convolution is linear in its input and in its filter, and the gradients are its adjoints.
TEST_P(ConvolutionGradients, AreAdjointToTheConvolution) {
  const GradCase& c = GetParam();
  const bool last = std::string(c.format).back() == 'C';
  std::vector<int64_t> strides(c.input.rank(), c.stride);
  strides[0] = strides[last ? strides.size() - 1 : 1] = 1;
  const Attrs attrs = {{"strides", attr::IntList(strides)},
                       {"padding", attr::String(c.padding)},
                       {"data_format", attr::String(c.format)}};
  const Tensor x = Noise(c.input, 1), w = Noise(c.filter, 2);
  const Tensor y = RunEveryWay(c.op, attrs, {x, w}), dy = Noise(y.shape(), 3);

  const Tensor dx = RunEveryWay(c.input_grad, attrs, {SizesOf(x), w, dy});
  const Tensor dw = RunEveryWay(c.filter_grad, attrs, {x, SizesOf(w), dy});

  const double want = Dot(y, dy), tolerance = 1e-5 * std::sqrt(Dot(y, y) * Dot(dy, dy));
  EXPECT_NEAR(Dot(x, dx), want, tolerance);
  EXPECT_NEAR(Dot(w, dw), want, tolerance);
}

GradCase Images(Shape input, Shape filter, int stride, const char* padding, const char* format) {
  return {"Conv2D", "Conv2DBackpropInput", "Conv2DBackpropFilter", input, filter, stride, padding,
          format};
}
GradCase Volumes(Shape input, Shape filter, int stride, const char* padding, const char* format) {
  return {
      "Conv3D", "Conv3DBackpropInputV2", "Conv3DBackpropFilterV2", input, filter, stride, padding,
      format};
}
GradCase Depthwise(Shape input, Shape filter, int stride, const char* padding) {
  return {"DepthwiseConv2dNative",
          "DepthwiseConv2dNativeBackpropInput",
          "DepthwiseConv2dNativeBackpropFilter",
          input,
          filter,
          stride,
          padding,
          "NHWC"};
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, ConvolutionGradients,
    ::testing::Values(
        Images(Shape({20, 15, 15, 32}), Shape({3, 3, 32, 40}), 1, "SAME", "NHWC"),
        Images(Shape({7, 31, 30, 12}), Shape({3, 5, 4, 24}), 2, "VALID", "NHWC"),  // 3 groups
        Images(Shape({3, 5, 21, 20}), Shape({3, 3, 5, 9}), 2, "SAME", "NCHW"),
        Images(Shape({2, 33, 30, 32}), Shape({15, 15, 32, 17}), 1, "SAME", "NHWC"),
        Images(Shape({3, 24, 25, 8}), Shape({15, 14, 2, 20}), 2, "VALID", "NHWC"),  // 4 groups
        Images(Shape({2, 7, 31, 30}), Shape({14, 15, 7, 5}), 3, "SAME", "NCHW"),
        Volumes(Shape({4, 9, 11, 10, 16}), Shape({3, 3, 3, 16, 17}), 1, "SAME", "NDHWC"),
        Volumes(Shape({1, 12, 14, 13, 8}), Shape({2, 3, 3, 4, 10}), 2, "VALID", "NDHWC"),
        Volumes(Shape({2, 3, 8, 9, 7}), Shape({3, 2, 3, 3, 4}), 1, "SAME", "NCDHW"),
        Depthwise(Shape({5, 30, 29, 24}), Shape({3, 3, 24, 1}), 1, "SAME"),
        Depthwise(Shape({2, 30, 29, 10}), Shape({5, 5, 10, 2}), 2, "VALID")));

TEST(VolumePools, AndTheirGradientsAreTheSameWhateverTheThreads) {
  const Attrs attrs = {{"ksize", attr::IntList({1, 2, 3, 3, 1})},
                       {"strides", attr::IntList({1, 2, 2, 2, 1})},
                       {"padding", attr::String("SAME")}};
  const Tensor x = Noise(Shape({3, 9, 21, 22, 20}), 1);
  const Tensor max = RunEveryWay("MaxPool3D", attrs, {x});
  const Tensor dy = Noise(max.shape(), 2);
  RunEveryWay("AvgPool3D", attrs, {x});
  RunEveryWay("MaxPool3DGradGrad", attrs, {x, max, Noise(x.shape(), 3)});
  // Each window's gradient goes to its largest value, or is shared out.
  const Tensor ones = RunEveryWay("MaxPool3DGrad", attrs, {x, max, dy});
  const Tensor shares = RunEveryWay("AvgPool3DGrad", attrs, {SizesOf(x), dy});
  const double want = Sum(dy);
  EXPECT_NEAR(Sum(ones), want, 1e-3);
  EXPECT_NEAR(Sum(shares), want, 1e-3);
}

TEST(ImagePoolGradients, AreTheSameWhateverTheThreads) {
  const Attrs attrs = {{"ksize", attr::IntList({1, 3, 3, 1})},
                       {"strides", attr::IntList({1, 2, 2, 1})},
                       {"padding", attr::String("SAME")}};
  const Tensor x = Noise(Shape({3, 41, 40, 37}), 1);
  const Tensor y = RunEveryWay("MaxPool", attrs, {x});
  RunEveryWay("MaxPoolGrad", attrs, {x, y, Noise(y.shape(), 2)});
  RunEveryWay("MaxPoolGradGrad", attrs, {x, y, Noise(x.shape(), 2)});
  RunEveryWay("AvgPoolGrad", attrs, {SizesOf(x), Noise(y.shape(), 2)});
}

TEST(Dilations, AreTheSameWhateverTheThreads) {
  const Attrs attrs = {{"strides", attr::IntList({1, 1, 2, 1})},
                       {"rates", attr::IntList({1, 2, 1, 1})},
                       {"padding", attr::String("SAME")}};
  const Tensor x = Noise(Shape({2, 30, 31, 20}), 1), w = Noise(Shape({3, 3, 20}), 2);
  const Tensor y = RunEveryWay("Dilation2D", attrs, {x, w});
  RunEveryWay("Dilation2DBackpropInput", attrs, {x, w, Noise(y.shape(), 3)});
  RunEveryWay("Dilation2DBackpropFilter", attrs, {x, w, Noise(y.shape(), 3)});
}

TEST(NormalisationGradients, AreTheSameWhateverTheThreads) {
  const Shape channels({50});
  for (const char* format : {"NHWC", "NCHW"}) {
    const Shape shape =
        std::string(format) == "NHWC" ? Shape({4, 21, 20, 50}) : Shape({4, 50, 21, 20});
    RunEveryWay("FusedBatchNormGrad", {{"data_format", attr::String(format)}},
                {Noise(shape, 1), Noise(shape, 2), Noise(channels, 3), Noise(channels, 4),
                 Noise(channels, 5)});
  }
  const Tensor x = Noise(Shape({2, 20, 20, 50}), 1);
  RunEveryWay("LRNGrad", {}, {Noise(x.shape(), 2), x, Noise(x.shape(), 3)});
}

TEST(RecurrentCells, AreTheSameWhateverTheThreads) {
  const int64_t batch = 33, inputs = 70, cells = 65, time = 3;
  const auto noise = [](std::initializer_list<int64_t> dims) { return Noise(Shape(dims), 7); };
  const Tensor state = noise({batch, cells}), vector = noise({cells});
  const Tensor w = noise({inputs + cells, 4 * cells}), b = noise({4 * cells});
  RunEveryWay("LSTMBlockCell", {{"use_peephole", attr::Bool(true)}},
              {noise({batch, inputs}), state, state, w, vector, vector, vector, b});
  RunEveryWay("GRUBlockCell", {},
              {noise({batch, inputs}), state, noise({inputs + cells, 2 * cells}),
               noise({inputs + cells, cells}), noise({2 * cells}), vector});
  Tensor steps = *Tensor::Allocate(DataType::kInt64, Shape({}));
  steps.flat<int64_t>()[0] = time - 1;
  const Tensor x = noise({time, batch, inputs}), all = noise({time, batch, cells});
  std::vector<Tensor> args = {steps, x, state, state, w, vector, vector, vector, b};
  RunEveryWay("BlockLSTM", {}, args);
  args.resize(18, all);  // what BlockLSTM gave, and the gradients
  RunEveryWay("BlockLSTMGrad", {{"use_peephole", attr::Bool(true)}}, args);
}

TEST(RecurrentCells, RefuseMoreStepsThanTheInputHas) {
  const auto noise = [](std::initializer_list<int64_t> dims) { return Noise(Shape(dims), 7); };
  for (int64_t count : {-1, 3}) {
    Tensor steps = *Tensor::Allocate(DataType::kInt64, Shape({}));
    steps.flat<int64_t>()[0] = count;
    const auto got = RunCpuKernel("BlockLSTM", {{"T", attr::Type(DataType::kFloat)}},
                                  {steps, noise({2, 1, 1}), noise({1, 1}), noise({1, 1}),
                                   noise({2, 4}), noise({1}), noise({1}), noise({1}), noise({4})});
    EXPECT_EQ(got.status().code(), absl::StatusCode::kInvalidArgument) << got.status();
  }
}

}  // namespace
}  // namespace tenon::testing::nn_grad_test
