// Sums of int64 that overflow wrap around. The sanitizers' builds see that no signed sum overflows.
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "graph/op_defs/attr_value.h"
#include "tests/plugin/cpu/cpu_kernel_util.h"

namespace tenon::testing {
namespace {

constexpr int64_t kMost = INT64_MAX;

Tensor Int64s(const std::vector<int64_t>& values, Shape shape) {
  return Tensor::Of<int64_t>(DataType::kInt64, values, std::move(shape));
}
Tensor Int64s(const std::vector<int64_t>& values) {
  return Int64s(values, Shape({static_cast<int64_t>(values.size())}));
}
// An image of one row and one channel.
Tensor Row(const std::vector<int64_t>& values) {
  return Int64s(values, Shape({1, 1, static_cast<int64_t>(values.size()), 1}));
}

// Output `i` of the op.
std::vector<int64_t> Output(const std::string& op, const Attrs& attrs,
                            const std::vector<Tensor>& inputs, size_t i = 0) {
  const auto outputs = RunCpuKernel(op, attrs, inputs);
  if (!outputs.ok()) {
    ADD_FAILURE() << outputs.status();
    return {};
  }
  const Tensor& t = (*outputs)[i];
  return {t.flat<int64_t>(), t.flat<int64_t>() + t.num_elements()};
}

using Values = std::vector<int64_t>;

TEST(WrappingSums, GradientOfOverlappingWindows) {
  const Attrs attrs = {{"T", attr::Type(DataType::kInt64)},
                       {"ksize", attr::IntList({1, 1, 2, 1})},
                       {"strides", attr::IntList({1, 1, 1, 1})},
                       {"padding", attr::String("VALID")}};
  EXPECT_EQ(Output("MaxPoolGrad", attrs, {Row({-1, 5, -2}), Row({5, 5}), Row({kMost, kMost})}),
            Values({0, -2, 0}));
}

TEST(WrappingSums, DilationAndItsGradients) {
  const Attrs attrs = {{"T", attr::Type(DataType::kInt64)},
                       {"strides", attr::IntList({1, 1, 1, 1})},
                       {"rates", attr::IntList({1, 1, 1, 1})},
                       {"padding", attr::String("VALID")}};
  const Tensor filter = Int64s({0, 0}, Shape({1, 2, 1})), gradient = Row({kMost, kMost});
  EXPECT_EQ(Output("Dilation2DBackpropInput", attrs, {Row({-1, 5, -2}), filter, gradient}),
            Values({0, -2, 0}));
  EXPECT_EQ(Output("Dilation2DBackpropFilter", attrs, {Row({-1, 5, 9}), filter, gradient}),
            Values({0, -2}));
  EXPECT_EQ(Output("Dilation2D", attrs, {Row({kMost}), Int64s({2}, Shape({1, 1, 1}))}),
            Values({INT64_MIN + 1}));
}

TEST(WrappingSums, CountsOfWeights) {
  const Attrs attrs = {{"T", attr::Type(DataType::kInt64)},
                       {"output_type", attr::Type(DataType::kInt64)},
                       {"minlength", attr::Int(-1)},
                       {"maxlength", attr::Int(-1)},
                       {"binary_output", attr::Bool(false)}};
  EXPECT_EQ(Output("DenseCountSparseOutput", attrs, {Int64s({1, 1}), Int64s({kMost, kMost})}, 1),
            Values({-2}));
}

TEST(WrappingSums, BinsOfWeights) {
  const Attrs attrs = {{"T", attr::Type(DataType::kInt64)},
                       {"Tidx", attr::Type(DataType::kInt64)},
                       {"binary_output", attr::Bool(false)}};
  EXPECT_EQ(Output("RaggedBincount", attrs,
                   {Int64s({0, 2}), Int64s({1, 1}), Int64s({2}, Shape()), Int64s({kMost, kMost})}),
            Values({0, -2}));
}

}  // namespace
}  // namespace tenon::testing
