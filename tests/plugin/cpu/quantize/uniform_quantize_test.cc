// Uniform quantization where no answer of TensorFlow's is to compare with: laws, refusals, and the
// same bits whatever the number of threads.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/plugin/cpu/float_op_util.h"
#include "tests/plugin/cpu/kernel_error_util.h"

namespace tenon::uniform_quantize_test {
namespace {

using testing::Attrs;
using testing::Floats;
using testing::Int32s;
using testing::RunCpuKernel;
using testing::RunSteadily;
using testing::Values;

const std::string kFloat = attr::Type(DataType::kFloat), kQint8 = attr::Type(DataType::kQint8),
                  kQint32 = attr::Type(DataType::kQint32);

Tensor Scalar(float value) { return Floats(Shape(), {value}); }
Tensor Zero(int32_t value = 0) { return Int32s({value}).Reshaped(Shape()); }
Tensor Bytes(const Shape& shape) {
  Tensor t = *Tensor::Allocate(DataType::kQint8, shape);
  for (int64_t i = 0; i < t.num_elements(); ++i)
    t.flat<int8_t>()[i] = static_cast<int8_t>(i * 37 % 256 - 128);
  return t;
}
Tensor Wave(const Shape& shape) {
  Tensor t = *Tensor::Allocate(DataType::kFloat, shape);
  for (int64_t i = 0; i < t.num_elements(); ++i)
    t.flat<float>()[i] = std::sin(static_cast<float>(i));
  return t;
}

Attrs Limits(std::initializer_list<const char*> prefixes, Attrs more = {}) {
  for (const char* prefix : prefixes) {
    more.emplace(std::string(prefix) + "quantization_min_val", attr::Int(-128));
    more.emplace(std::string(prefix) + "quantization_max_val", attr::Int(127));
  }
  return more;
}

void ExpectInvalid(const char* message, const std::string& op, const Attrs& attrs,
                   const std::vector<Tensor>& inputs) {
  testing::ExpectError(absl::StatusCode::kInvalidArgument, message, op, attrs, inputs);
}

TEST(UniformQuantize, AndBackKeepsValuesWithinHalfAStep) {
  const Tensor x = Wave(Shape({300, 5, 70}));
  const Tensor scales = Floats(Shape({5}), {0.01f, 0.02f, 0.03f, 0.04f, 0.05f});
  const Tensor zeros = Int32s({0, 1, -2, 3, -4});
  const Attrs axis = {{"quantization_axis", attr::Int(1)}};
  Attrs attrs = Limits({""}, axis);
  attrs["Tin"] = kFloat;
  attrs["Tout"] = kQint8;
  const Tensor q = RunSteadily("UniformQuantize", attrs, {x, scales, zeros})[0];
  attrs["Tin"] = kQint8;
  attrs["Tout"] = kFloat;
  const Tensor y = RunSteadily("UniformDequantize", attrs, {q, scales, zeros})[0];
  for (int64_t i = 0; i < x.num_elements(); ++i) {
    const float step = scales.flat<float>()[i / 70 % 5];
    ASSERT_NEAR(Values(y)[i], Values(x)[i], step * 0.501) << i;
  }
}

TEST(UniformQuantizedDotHybrid, IsNearTheProduct) {
  const Tensor x = Wave(Shape({9, 40})), w = Bytes(Shape({40, 6}));
  const Tensor y =
      RunSteadily("UniformQuantizedDotHybrid",
                  Limits({"rhs_"}, {{"Tlhs", kFloat}, {"Trhs", kQint8}, {"Tout", kFloat}}),
                  {x, w, Scalar(0.5f), Zero(3)})[0];
  for (int64_t i = 0; i < 9; ++i) {
    for (int64_t j = 0; j < 6; ++j) {
      double want = 0;
      for (int64_t k = 0; k < 40; ++k)
        want += Values(x)[i * 40 + k] * (w.flat<int8_t>()[k * 6 + j] - 3) * 0.5;
      EXPECT_NEAR(Values(y)[i * 6 + j], want, 10) << i << " " << j;
    }
  }
}

// A window of one place is a product of matrices.
TEST(UniformQuantizedConvolution, OfOnePlaceIsADot) {
  const Attrs types = {{"Tin", kQint8}, {"Tout", kQint32}};
  Attrs dot = Limits({"lhs_", "rhs_"}, types);
  dot["output_quantization_min_val"] = attr::Int(INT32_MIN);
  dot["output_quantization_max_val"] = attr::Int(INT32_MAX);
  Attrs conv = dot;
  conv["padding"] = attr::String("VALID");
  const Tensor x = Bytes(Shape({70, 30})), w = Bytes(Shape({30, 1}));
  const std::vector<Tensor> scales = {Scalar(0.5f), Zero(4),   Scalar(0.25f),
                                      Zero(-7),     Scalar(1), Zero(2)};
  const auto with_scales = [&](const Tensor& lhs, const Tensor& rhs) {
    std::vector<Tensor> inputs = {lhs, rhs};
    inputs.insert(inputs.end(), scales.begin(), scales.end());
    return inputs;
  };
  const Tensor want = RunSteadily("UniformQuantizedDot", dot, with_scales(x, w))[0];
  const Tensor got =
      RunSteadily("UniformQuantizedConvolution", conv,
                  with_scales(x.Reshaped(Shape({70, 30, 1})), w.Reshaped(Shape({1, 30, 1}))))[0];
  ASSERT_EQ(got.shape(), Shape({70, 1, 1}));
  for (int64_t i = 0; i < 70; ++i) EXPECT_EQ(got.flat<int32_t>()[i], want.flat<int32_t>()[i]) << i;
}

TEST(UniformQuantizedAdd, WrapsAround) {
  Tensor x = Tensor::Of<int32_t>(DataType::kQint32, {INT32_MAX, INT32_MIN, 5}, Shape({3}));
  Attrs attrs = Limits({"lhs_", "rhs_"}, {{"T", kQint32}});
  attrs["output_quantization_min_val"] = attr::Int(-10);
  attrs["output_quantization_max_val"] = attr::Int(10);
  const Tensor y = RunSteadily("UniformQuantizedAdd", attrs,
                               {x, x, Scalar(1), Zero(), Scalar(1), Zero(), Scalar(1), Zero()})[0];
  EXPECT_EQ(y.flat<int32_t>()[0], -2);
  EXPECT_EQ(y.flat<int32_t>()[1], 0);
  EXPECT_EQ(y.flat<int32_t>()[2], 10);
}

TEST(UniformQuantize, RefusesScalesThatDoNotFit) {
  const Tensor x = Wave(Shape({2, 3})), q = Bytes(Shape({2, 3}));
  const auto quantize = [&](int64_t axis) {
    return Limits({""},
                  {{"Tin", kFloat}, {"Tout", kQint8}, {"quantization_axis", attr::Int(axis)}});
  };
  ExpectInvalid("dimension of [2,3], not 2", "UniformQuantize", quantize(2),
                {x, Scalar(1), Zero()});
  ExpectInvalid("[3]", "UniformQuantize", quantize(1), {x, Scalar(1), Zero()});
  ExpectInvalid("[]", "UniformQuantize", quantize(-1), {x, Floats(Shape({1}), {1}), Zero()});
  Attrs far = quantize(-1);
  far["quantization_max_val"] = attr::Int(int64_t{1} << 31);
  ExpectInvalid("too large: 2147483648", "UniformQuantize", far, {x, Scalar(1), Zero()});
  const Attrs back = Limits({""}, {{"Tin", kQint8}, {"Tout", kFloat}});
  for (float scale : {0.0f, -1.0f, std::numeric_limits<float>::quiet_NaN()})
    ExpectInvalid("must be positive", "UniformDequantize", back, {q, Scalar(scale), Zero()});
  const Attrs again = Limits({"input_", "output_"}, {{"Tin", kQint8}, {"Tout", kQint8}});
  ExpectInvalid("positive and finite, not inf", "UniformRequantize", again,
                {q, Scalar(std::numeric_limits<float>::infinity()), Zero(), Scalar(1), Zero()});
}

TEST(UniformQuantizedConvolution, RefusesWhatDoesNotFit) {
  const auto refuse = [](const char* message, const Attrs& more,
                         const Shape& lhs = Shape({2, 4, 5, 5}),
                         const Shape& rhs = Shape({4, 4, 2, 2})) {
    Attrs attrs = Limits({"rhs_"}, {{"Tlhs", kFloat}, {"Trhs", kQint8}, {"Tout", kFloat}});
    attrs["padding"] = attr::String("VALID");
    for (const auto& [name, value] : more) attrs[name] = value;
    ExpectInvalid(message, "UniformQuantizedConvolutionHybrid", attrs,
                  {Wave(lhs), Bytes(rhs), Scalar(1), Zero()});
  };
  refuse("same rank", {}, Shape({2, 4, 5}));
  refuse("same rank", {}, Shape({2, 4}), Shape({4, 4}));
  refuse("padding must be", {{"padding", attr::String("")}});
  refuse("explicit_padding must hold 0", {{"explicit_padding", attr::IntList({1, 1, 1, 1})}});
  refuse("window_strides must hold 2", {{"window_strides", attr::IntList({1})}});
  refuse("window_strides must hold 2", {{"window_strides", attr::IntList({1, 0})}});
  refuse("do not divide", {{"feature_group_count", attr::Int(0)}});
  refuse("do not divide", {{"feature_group_count", attr::Int(2)}});
  refuse("do not divide", {{"batch_group_count", attr::Int(3)}});
  refuse("do not divide", {}, Shape({2, 0, 5, 5}));
  refuse("well-formed", {{"dimension_numbers", attr::String("\x1a")}});
  refuse("each of the 4 dimensions",
         {{"dimension_numbers", attr::String(std::string("\x1a\x02\x00\x00", 4))}});
  refuse("a window of 9 does not fit into 5 places", {}, Shape({2, 4, 5, 5}), Shape({4, 4, 9, 2}));
  refuse("must be -1 or 0", {{"rhs_quantization_axis", attr::Int(1)}});
}

}  // namespace
}  // namespace tenon::uniform_quantize_test
