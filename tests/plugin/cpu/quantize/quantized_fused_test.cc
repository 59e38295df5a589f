// Fused quantized products where no answer of TensorFlow's is to compare with: refusals, laws, and
// the same bits whatever the number of threads.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "tests/plugin/cpu/float_op_util.h"
#include "tests/plugin/cpu/kernel_error_util.h"

namespace tenon::quantized_fused_test {
namespace {

using testing::Attrs;
using testing::ExpectError;
using testing::Floats;
using testing::RunCpuKernel;
using testing::RunSteadily;

Tensor Scalar(float value) { return Floats(Shape(), {value}); }
Tensor Ramp(DataType type, const Shape& shape) {
  Tensor t = *Tensor::Allocate(type, shape);
  for (int64_t i = 0; i < t.num_elements(); ++i)
    t.flat<uint8_t>()[i] = static_cast<uint8_t>(i * 37);
  return t;
}

const Attrs kConv = {{"Tinput", attr::Type(DataType::kQuint8)},
                     {"Tfilter", attr::Type(DataType::kQint8)},
                     {"out_type", attr::Type(DataType::kQint32)},
                     {"strides", attr::IntList({1, 1, 1, 1})},
                     {"padding", attr::String("SAME")}};
const Attrs kMatMul = {{"T1", attr::Type(DataType::kQuint8)},
                       {"T2", attr::Type(DataType::kQint8)},
                       {"Tbias", attr::Type(DataType::kFloat)},
                       {"Toutput", attr::Type(DataType::kQint32)}};

// Input, filter, bias, their ranges.
std::vector<Tensor> ConvInputs(int64_t channels = 6) {
  return {Ramp(DataType::kQuint8, Shape({3, 40, 30, 5})),
          Ramp(DataType::kQint8, Shape({3, 3, 5, channels})),
          Floats(Shape({channels}), std::vector<float>(channels, 0.5f)),
          Scalar(0),
          Scalar(1),
          Scalar(-2),
          Scalar(1)};
}
std::vector<Tensor> MatMulInputs() {
  return {Ramp(DataType::kQuint8, Shape({70, 9})),
          Ramp(DataType::kQint8, Shape({9, 11})),
          Floats(Shape({11}), std::vector<float>(11, 0.5f)),
          Scalar(0),
          Scalar(1),
          Scalar(-2),
          Scalar(1)};
}

TEST(QuantizedFused, IsTheSameWhateverTheThreads) {
  const std::vector<Tensor> plain = RunSteadily("QuantizedConv2DWithBias", kConv, ConvInputs());
  const std::vector<Tensor> relu =
      RunSteadily("QuantizedConv2DWithBiasAndRelu", kConv, ConvInputs());
  for (int64_t i = 0; i < plain[0].num_elements(); ++i)
    ASSERT_EQ(relu[0].flat<int32_t>()[i], std::max(0, plain[0].flat<int32_t>()[i])) << i;
  RunSteadily("QuantizedMatMulWithBias", kMatMul, MatMulInputs());
}

// Channels that a filter has a range of its own for are as if it were the range of all.
TEST(QuantizedFused, KnowsRangesOfChannels) {
  std::vector<Tensor> inputs = ConvInputs(2);
  inputs.push_back(Scalar(-9));
  inputs.push_back(Scalar(9));
  Attrs attrs = kConv;
  attrs["Tbias"] = attr::Type(DataType::kFloat);
  attrs["out_type"] = attr::Type(DataType::kQint8);
  const auto with = [&](const Tensor& min, const Tensor& max) {
    inputs[5] = min;
    inputs[6] = max;
    return RunSteadily("QuantizedConv2DWithBiasAndRequantize", attrs, inputs)[0];
  };
  const Tensor first = with(Scalar(-2), Scalar(1)), second = with(Scalar(-0.5f), Scalar(0.25f));
  const Tensor both = with(Floats(Shape({2}), {-2, -0.5f}), Floats(Shape({2}), {1, 0.25f}));
  for (int64_t i = 0; i < both.num_elements(); ++i) {
    ASSERT_EQ(both.flat<int8_t>()[i], (i % 2 == 0 ? first : second).flat<int8_t>()[i]) << i;
  }
}

// Of zeros in the filter nothing is left but the bias and the summand.
TEST(QuantizedFused, AddsTheValuesOfASummand) {
  std::vector<Tensor> inputs = ConvInputs(2);
  std::memset(inputs[1].data(), 0, inputs[1].bytes());
  inputs.insert(inputs.end(), {Scalar(0), Scalar(10)});  // the range asked for
  Attrs attrs = kConv;
  attrs["Tbias"] = attr::Type(DataType::kFloat);
  attrs["out_type"] = attr::Type(DataType::kQuint8);
  const auto expect = [&](const std::string& op, DataType type, double step) {
    attrs["Tsummand"] = attr::Type(type);
    inputs.resize(9);
    inputs.insert(inputs.end(), {Ramp(type, Shape({3, 40, 30, 2})), Scalar(-4), Scalar(5)});
    const Tensor got = RunSteadily(op, attrs, inputs)[0];
    for (int64_t i = 0; i < got.num_elements(); ++i) {
      const int byte =
          type == DataType::kQint8 ? inputs[9].flat<int8_t>()[i] : inputs[9].flat<uint8_t>()[i];
      const double want = std::max(0.0, 0.5 + byte * step) / (10.0 / 255);
      ASSERT_NEAR(got.flat<uint8_t>()[i], std::min(want, 255.0), 0.51) << op << " " << i;
    }
  };
  expect("QuantizedConv2DWithBiasSumAndReluAndRequantize", DataType::kQuint8, 5.0 / 255);
  expect("QuantizedConv2DWithBiasSignedSumAndReluAndRequantize", DataType::kQint8, 5.0 / 127);

  inputs.resize(7);
  inputs.push_back(Floats(Shape({3, 40, 30, 2}), std::vector<float>(7200, 0.25f)));
  const std::vector<Tensor> sums = RunSteadily("QuantizedConv2DWithBiasSumAndRelu", kConv, inputs);
  const double step = (1.0 / 255) * (2.0 / 127);
  EXPECT_NEAR(sums[0].flat<int32_t>()[77], 0.75 / step, 1);

  inputs.back() = Floats(Shape({1}), {1});
  ExpectError(absl::StatusCode::kInvalidArgument, "[3,40,30,2]",
              "QuantizedConv2DWithBiasSumAndRelu", kConv, inputs);
}

TEST(QuantizedFused, RefusesWhatDoesNotFit) {
  const auto invalid = absl::StatusCode::kInvalidArgument;
  const auto conv = [&](const char* message, int input, const Tensor& value) {
    std::vector<Tensor> inputs = ConvInputs();
    inputs[input] = value;
    ExpectError(invalid, message, "QuantizedConv2DWithBias", kConv, inputs);
  };
  conv("same number of channels", 0, Ramp(DataType::kQuint8, Shape({1, 4, 4, 4})));
  conv("[6]", 2, Floats(Shape({2}), {1, 2}));
  conv("one value", 3, Floats(Shape({2}), {1, 2}));
  conv("one range or 6", 5, Floats(Shape({2}), {1, 2}));
  conv("must have a width", 4, Scalar(0));
  std::vector<Tensor> wide = MatMulInputs();
  wide[1] = Ramp(DataType::kQint8, Shape({8, 11}));
  ExpectError(invalid, "no matrices with a product", "QuantizedMatMulWithBias", kMatMul, wide);
  // The range at fault is named, not those of the factors.
  Attrs attrs = kMatMul;
  attrs["Toutput"] = attr::Type(DataType::kQuint8);
  std::vector<Tensor> requantize = MatMulInputs();
  requantize.insert(requantize.end(), {Scalar(0), Scalar(0)});
  ExpectError(invalid, "the range asked for must have a width, not [0, 0]",
              "QuantizedMatMulWithBiasAndRequantize", attrs, requantize);
}

TEST(QuantizedFused, SaysWhatIsNotBuilt) {
  const auto unimplemented = absl::StatusCode::kUnimplemented;
  Attrs padded = kConv;
  padded["padding_list"] = attr::IntList({0, 0, 1, 1, 1, 1, 0, 0});
  ExpectError(unimplemented, "'padding_list'", "QuantizedConv2DWithBias", padded, ConvInputs());
  for (const auto& strides : {std::vector<int64_t>{2, 1, 1, 1}, {1, 1, 1, 2}}) {
    Attrs strided = kConv;
    strided["strides"] = attr::IntList(strides);
    ExpectError(unimplemented, "strides of batch and channels", "QuantizedConv2DWithBias", strided,
                ConvInputs());
  }
  Attrs transposed = kMatMul;
  transposed["transpose_a"] = attr::Bool(true);
  ExpectError(unimplemented, "transposed", "QuantizedMatMulWithBias", transposed, MatMulInputs());
  std::vector<Tensor> shifted = MatMulInputs();
  shifted[3] = Scalar(-1);
  ExpectError(unimplemented, "MIN_FIRST", "QuantizedMatMulWithBias", kMatMul, shifted);
}

// Of a _QuantizedMatMul with these factors, bias and summand, `ranges` more inputs, and one or
// three outputs.
Attrs ListAttrs(const std::vector<DataType>& inputs, const std::vector<std::string_view>& fused,
                DataType out, size_t ranges = 4) {
  const size_t out_ranges = out == DataType::kFloat ? 0 : 2;
  return {{"T1", attr::Type(DataType::kQuint8)},
          {"T2", attr::Type(DataType::kQint8)},
          {"Tbias", attr::Type(DataType::kFloat)},
          {"Tout", attr::Type(out)},
          {"Tdevice_inputs", attr::TypeList(inputs)},
          {"Thost_inputs", attr::TypeList(std::vector<DataType>(ranges, DataType::kFloat))},
          {"Tdevice_outputs", attr::TypeList({out})},
          {"Thost_outputs", attr::TypeList(std::vector<DataType>(out_ranges, DataType::kFloat))},
          {"fused_ops", attr::StringList(fused)}};
}

// Nothing tells what range the summand of an integer result has.
TEST(QuantizedFused, ListsAddOnlyToFloats) {
  std::vector<Tensor> inputs = MatMulInputs();
  inputs.insert(inputs.begin() + 3, Floats(Shape({70, 11}), std::vector<float>(770, 0.25f)));
  const std::vector<DataType> types = {DataType::kQuint8, DataType::kQint8, DataType::kFloat,
                                       DataType::kFloat};
  const auto added =
      RunCpuKernel("_QuantizedMatMul",
                   ListAttrs(types, {"BiasAdd", "Add", "Dequantize"}, DataType::kFloat), inputs);
  EXPECT_TRUE(added.ok()) << added.status();
  ExpectError(absl::StatusCode::kUnimplemented, "[BiasAdd, Add, Relu, Dequantize] is not built",
              "_QuantizedMatMul",
              ListAttrs(types, {"BiasAdd", "Add", "Relu", "Dequantize"}, DataType::kFloat), inputs);
  inputs.insert(inputs.end(), {Scalar(-1), Scalar(1)});  // the range asked for
  for (const DataType out : {DataType::kQint8, DataType::kQuint8}) {
    ExpectError(absl::StatusCode::kUnimplemented, "[BiasAdd, Add, Requantize] is not built",
                "_QuantizedMatMul", ListAttrs(types, {"BiasAdd", "Add", "Requantize"}, out, 6),
                inputs);
  }
}

TEST(QuantizedFused, ListsMustHoldWhatIsFused) {
  const auto attrs = [](const std::vector<DataType>& inputs,
                        const std::vector<std::string_view>& fused, DataType out) {
    Attrs all = ListAttrs(inputs, fused, out);
    all.erase("Thost_outputs");
    return all;
  };
  const std::vector<DataType> types = {DataType::kQuint8, DataType::kQint8, DataType::kFloat};
  const std::vector<Tensor> inputs = MatMulInputs();
  EXPECT_TRUE(RunCpuKernel("_QuantizedMatMul",
                           attrs(types, {"BiasAdd", "Dequantize"}, DataType::kFloat), inputs)
                  .ok());
  ExpectError(absl::StatusCode::kInvalidArgument, "the inputs must be the factors",
              "_QuantizedMatMul", attrs(types, {"BiasAdd", "Add", "Dequantize"}, DataType::kFloat),
              inputs);
  ExpectError(absl::StatusCode::kInvalidArgument, "the inputs must be the factors",
              "_QuantizedMatMul", attrs(types, {"BiasAdd", "Requantize"}, DataType::kQint8),
              inputs);
  ExpectError(absl::StatusCode::kUnimplemented, "a result of DT_QINT8 is not built",
              "_QuantizedMatMul", attrs(types, {"BiasAdd", "Dequantize"}, DataType::kQint8),
              inputs);
  ExpectError(absl::StatusCode::kUnimplemented, "[BiasAdd, Mul, Dequantize] is not built",
              "_QuantizedMatMul", attrs(types, {"BiasAdd", "Mul", "Dequantize"}, DataType::kFloat),
              inputs);
}

}  // namespace
}  // namespace tenon::quantized_fused_test
