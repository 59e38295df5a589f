// Assert and Abort, and tensors as messages show them: the texts are TensorFlow's.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <numeric>

#include "graph/op_defs/attr_value.h"
#include "plugin/cpu/base/tensor_summary.h"
#include "tests/plugin/cpu/cpu_kernel_util.h"

namespace tenon {
namespace {

using ::testing::HasSubstr;
using testing::RunCpuKernel;

template <typename T>
std::string Shown(DataType type, const std::vector<T>& values, int64_t max_entries = -1) {
  return cpu::SummarizeTensor(type, Shape({static_cast<int64_t>(values.size())}), values.data(),
                              max_entries);
}

// The numbers from 0 on in this shape.
std::string Counted(const Shape& shape, int64_t max_entries) {
  std::vector<int32_t> values(shape.num_elements());
  std::iota(values.begin(), values.end(), 0);
  return cpu::SummarizeTensor(DataType::kInt32, shape, values.data(), max_entries);
}

Tensor Strings(const Shape& shape, const std::vector<std::string>& values) {
  Tensor t = *Tensor::Allocate(DataType::kString, shape);
  for (size_t i = 0; i < values.size(); ++i) t.SetString(static_cast<int64_t>(i), values[i]);
  return t;
}

TEST(TensorSummary, ShowsTheFirstElements) {
  EXPECT_EQ(Counted(Shape(), 3), "0");
  EXPECT_EQ(Counted(Shape(), 0), "...");
  EXPECT_EQ(Counted(Shape({0}), 3), "");
  EXPECT_EQ(Counted(Shape({5}), -1), "0 1 2 3 4");
  EXPECT_EQ(Counted(Shape({5}), 3), "0 1 2...");
  EXPECT_EQ(Counted(Shape({5}), 5), "0 1 2 3 4");
}

TEST(TensorSummary, PutsRowsIntoBrackets) {
  EXPECT_EQ(Counted(Shape({2, 3}), 100), "[0 1 2][3 4 5]");
  EXPECT_EQ(Counted(Shape({2, 3}), 0), "...");
  EXPECT_EQ(Counted(Shape({2, 3}), 1), "[0...]...");
  EXPECT_EQ(Counted(Shape({2, 3}), 3), "[0 1 2]...");
  EXPECT_EQ(Counted(Shape({2, 3}), 5), "[0 1 2][3 4...]...");
  EXPECT_EQ(Counted(Shape({3, 1}), 2), "[0][1]...");
  EXPECT_EQ(Counted(Shape({2, 2, 2}), -1), "[[0 1][2 3]][[4 5][6 7]]");
  EXPECT_EQ(Counted(Shape({2, 2, 2}), 2), "[[0 1]]...");
  EXPECT_EQ(Counted(Shape({2, 2, 2}), 5), "[[0 1][2 3]][[4...]]...");
  EXPECT_EQ(Counted(Shape({1, 1, 1}), 3), "[[0]]");
  EXPECT_EQ(Counted(Shape({2, 0, 3}), 3), "");
}

TEST(TensorSummary, ShowsIntegersOfFewBits) {
  EXPECT_EQ(Shown<int8_t>(DataType::kInt4, {-8, 7}), "-8 7");
  EXPECT_EQ(Shown<uint8_t>(DataType::kUint4, {0, 15}), "0 15");
  EXPECT_EQ(Shown<int8_t>(DataType::kInt2, {-2, 1}), "-2 1");
  EXPECT_EQ(Shown<uint8_t>(DataType::kUint2, {0, 3}), "0 3");
}

TEST(TensorSummary, WritesAsManyDigitsAsTellNumbersApart) {
  constexpr float kInf = std::numeric_limits<float>::infinity();
  EXPECT_EQ(Shown<float>(DataType::kFloat, {0.1f, 1 / 3.0f, 1e10f, 1e-7f, 123456789.0f, -0.0f}),
            "0.1 0.333333343 1e+10 1e-07 123456792 -0");
  EXPECT_EQ(Shown<float>(DataType::kFloat, {-std::numeric_limits<float>::quiet_NaN(), kInf, -kInf}),
            "nan inf -inf");
  EXPECT_EQ(Shown<double>(DataType::kDouble, {1 / 3.0, 0.1, 1e22, 1e10, 123456789012345678.0}),
            "0.33333333333333331 0.1 1e+22 10000000000 1.2345678901234568e+17");
  EXPECT_EQ(Shown<uint16_t>(DataType::kHalf, {0x2e66, 0x3555}), "0.0999755859 0.333251953");
  EXPECT_EQ(Shown<uint16_t>(DataType::kBfloat16, {0x3dcd, 0x4b80}), "0.100097656 16777216");
  EXPECT_EQ(Shown<uint8_t>(DataType::kFloat8E4m3fn, {0x1d, 0x7e, 0x7f, 0x80}),
            "0.1015625 448 nan -0");
}

TEST(TensorSummary, WritesEveryType) {
  EXPECT_EQ(Shown<int8_t>(DataType::kInt8, {-128, 127}), "-128 127");
  EXPECT_EQ(Shown<int8_t>(DataType::kInt4, {-8, 7}), "-8 7");
  EXPECT_EQ(Shown<uint8_t>(DataType::kUint4, {0, 15}), "0 15");
  EXPECT_EQ(Shown<uint8_t>(DataType::kQuint8, {1, 255}), "1 255");
  EXPECT_EQ(Shown<int16_t>(DataType::kQint16, {1, -2}), "1 -2");
  EXPECT_EQ(Shown<uint16_t>(DataType::kQuint16, {1, 65535}), "1 65535");
  EXPECT_EQ(Shown<uint8_t>(DataType::kBool, {1, 0}), "1 0");
  EXPECT_EQ(Shown<uint64_t>(DataType::kUint64, {~uint64_t{0}}), "18446744073709551615");
  EXPECT_EQ(Shown<int64_t>(DataType::kInt64, {INT64_MIN}), "-9223372036854775808");
  EXPECT_EQ(Shown<int32_t>(DataType::kQint32, {1, 2, 3}, 2), "? ?...");
  EXPECT_EQ(Shown<double>(DataType::kComplex64, {1, 2}), "? ?");
  const Tensor strings = Strings(Shape({3}), {"a\"b\n\\", "\xc3\xa9\xff\x01", ""});
  EXPECT_EQ(cpu::SummarizeTensor(DataType::kString, strings.shape(), strings.data(), 3),
            "a\\\"b\\n\\\\ \xc3\xa9\xff\\001 ");
}

class Thing : public Object {
 public:
  std::string_view kind() const override { return "thing"; }
};

// Two variants, one of them null.
Tensor Things() {
  Tensor things = *Tensor::Allocate(DataType::kVariant, Shape({2}));
  things.SetObject(0, ObjectRef<Thing>::Make());
  return things;
}

TEST(TensorSummary, NamesTheKindOfObjects) {
  const Tensor things = Things();
  EXPECT_EQ(cpu::SummarizeTensor(things.dtype(), things.shape(), things.data(), 3), "<thing> ?");
  EXPECT_EQ(cpu::FormatTensor(things.dtype(), things.shape(), things.data(), 3), "[<thing> ?]");
}

absl::Status Assert(bool condition, const std::vector<Tensor>& data, int64_t summarize) {
  std::vector<Tensor> inputs = {Tensor::Of<bool>(DataType::kBool, {condition}, Shape())};
  std::vector<DataType> types;
  for (const Tensor& t : data) {
    inputs.push_back(t);
    types.push_back(t.dtype());
  }
  return RunCpuKernel("Assert", {{"T", attr::TypeList(types)}, {"summarize", attr::Int(summarize)}},
                      inputs)
      .status();
}

TEST(Assert, FailsWithItsDataOnly) {
  const Tensor what = Strings(Shape({1}), {"x:"});
  const Tensor values = Tensor::Of<float>(DataType::kFloat, {1.5f, 2, 3}, Shape({3}));
  EXPECT_TRUE(Assert(true, {what, values}, 2).ok());
  const absl::Status status = Assert(false, {what, values}, 2);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()), HasSubstr("assertion failed: [x:] [1.5 2...]"));
}

TEST(Assert, TakesObjects) {
  EXPECT_TRUE(Assert(true, {Things()}, 3).ok());
  EXPECT_THAT(std::string(Assert(false, {Things()}, 1).message()),
              HasSubstr("assertion failed: [<thing>...]"));
}

TEST(Assert, WantsOneCondition) {
  const Tensor both = Tensor::Of<bool>(DataType::kBool, {true, true}, Shape({2}));
  const absl::Status status =
      RunCpuKernel("Assert", {{"T", attr::TypeList({DataType::kBool})}}, {both, both}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()), HasSubstr("must be a scalar"));
}

TEST(Abort, IsAnErrorWithoutInputs) {
  const auto abort = [](std::string_view message) {
    return RunCpuKernel("Abort", {{"error_msg", attr::String(message)}}, {}).status();
  };
  EXPECT_EQ(abort("stop here"), absl::AbortedError("stop here"));
  EXPECT_EQ(abort("").code(), absl::StatusCode::kAborted);
}

}  // namespace
}  // namespace tenon
