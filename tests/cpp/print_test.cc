// Tensors as text. What is expected is what NumPy prints.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tenon/tenon.h"
#include "tests/support/paths.h"

namespace tenon {
namespace {

// A case of tests/golden/print/arrays.txt.
struct Case {
  std::string header, bytes, text;
};

std::vector<Case> ReadCases() {
  std::vector<Case> cases;
  std::ifstream in(testing::Golden("print/arrays.txt"));
  std::string line;
  while (std::getline(in, line)) {
    if (line.starts_with('|')) {
      std::string& text = cases.back().text;
      text += (text.empty() ? "" : "\n") + line.substr(1);
    } else {
      cases.push_back({line, {}, {}});
      std::getline(in, cases.back().bytes);
    }
  }
  return cases;
}

std::string FromHex(std::string_view hex) {
  std::string bytes;
  for (size_t i = 0; i + 1 < hex.size(); i += 2)
    bytes += static_cast<char>(std::stoi(std::string(hex.substr(i, 2)), nullptr, 16));
  return bytes;
}

DType TypeNamed(const std::string& name) {
  for (const DType dtype :
       {DType::kFloat, DType::kDouble, DType::kHalf, DType::kInt8, DType::kInt16, DType::kInt32,
        DType::kInt64, DType::kUInt8, DType::kUInt16, DType::kUInt32, DType::kUInt64, DType::kBool,
        DType::kComplex64, DType::kComplex128, DType::kBFloat16, DType::kFloat8E5M2,
        DType::kFloat8E4M3FN, DType::kString}) {
    if (Name(dtype) == name) return dtype;
  }
  return DType::kInvalid;
}

Tensor MakeTensor(const Case& test) {
  std::istringstream header(test.header);
  std::string name;
  header >> name;
  std::vector<int64_t> dims;
  int64_t dim = 0, count = 1;
  while (header >> dim) {
    dims.push_back(dim);
    count *= dim;
  }
  const DType dtype = TypeNamed(name);
  EXPECT_NE(dtype, DType::kInvalid) << test.header;
  if (dtype == DType::kString) {
    std::vector<std::string> texts;
    size_t begin = 0;
    for (int64_t i = 0; i < count; ++i) {
      const size_t end = std::min(test.bytes.find(',', begin), test.bytes.size());
      texts.push_back(FromHex(std::string_view(test.bytes).substr(begin, end - begin)));
      begin = end + 1;
    }
    return Tensor::Of<std::string>(Shape(dims), texts);
  }
  auto* const bytes = new std::string(FromHex(test.bytes));
  return Tensor::View(bytes->data(), dtype, Shape(dims), [bytes] { delete bytes; });
}

TEST(CppPrint, PrintsAsNumPy) {
  const std::vector<Case> cases = ReadCases();
  EXPECT_EQ(cases.size(), 800u);
  for (const Case& test : cases) EXPECT_EQ(MakeTensor(test).ToString(), test.text) << test.header;
}

TEST(CppPrint, PrintsIntegersOfFourBits) {
  int8_t values[] = {1, -2, 7};
  EXPECT_EQ(Tensor::View(values, DType::kInt4, Shape{3}, {}).ToString(), "[ 1 -2  7]");
}

TEST(CppPrint, AlignsColumns) {
  EXPECT_EQ(Tensor::Of<float>({{1, 2.5f}, {-3, 4.25f}}).ToString(),
            "[[ 1.    2.5 ]\n [-3.    4.25]]");
  EXPECT_EQ(Tensor::Of<int32_t>({{1, -20}, {300, 4}}).ToString(), "[[  1 -20]\n [300   4]]");
  EXPECT_EQ(Tensor::Of<bool>({true, false}).ToString(), "[ True False]");
  EXPECT_EQ(Tensor::Of<std::string>({"a", "it's", "\n\xff"}).ToString(),
            "[b'a' b\"it's\" b'\\n\\xff']");
  EXPECT_EQ(Tensor::Of<double>({{{1, 2}}, {{3, 4}}}).ToString(), "[[[1. 2.]]\n\n [[3. 4.]]]");
}

TEST(CppPrint, ShowsScalarsAndEmptyTensors) {
  EXPECT_EQ(Tensor(1.f).ToString(), "1.0");
  EXPECT_EQ(Tensor(0.1f).ToString(), "0.1");
  EXPECT_EQ(Tensor(1e20).ToString(), "1e+20");
  EXPECT_EQ(Tensor(-7).ToString(), "-7");
  EXPECT_EQ(Tensor(true).ToString(), "True");
  EXPECT_EQ(Tensor("x").ToString(), "b'x'");
  EXPECT_EQ(Tensor::Of<float>(Shape{0, 3}, {}).ToString(), "[]");
  EXPECT_EQ(Tensor().ToString(), "<empty Tensor>");
}

TEST(CppPrint, GoesOverToPowersOfTen) {
  EXPECT_EQ(Tensor::Of<float>({1e10f, 1.5f}).ToString(), "[1.0e+10 1.5e+00]");
  EXPECT_EQ(Tensor::Of<double>({1e-5, 1}).ToString(), "[1.e-05 1.e+00]");
  // Types of few digits do so earlier, scalars of type double later.
  EXPECT_EQ(Tensor(999999.f).ToString(), "999999.0");
  EXPECT_EQ(Tensor(1e6f).ToString(), "1e+06");
  EXPECT_EQ(Tensor::Of<float>({1e6f}).ToString(), "[1.e+06]");
  EXPECT_EQ(Tensor(1e15).ToString(), "1000000000000000.0");
  EXPECT_EQ(Tensor::Of<double>({1e7}).ToString(), "[10000000.]");
  EXPECT_EQ(Tensor::Of<double>({1e8}).ToString(), "[1.e+08]");
  EXPECT_EQ(Tensor::Of<float>({1.f / 3, 100}).ToString(), "[  0.33333334 100.        ]");
  EXPECT_EQ(Tensor::Of<float>({NAN, INFINITY, -1}).ToString(), "[nan inf -1.]");
}

TEST(CppPrint, BreaksLongLines) {
  std::vector<int32_t> numbers;
  for (int i = 0; i < 40; ++i) numbers.push_back(i);
  EXPECT_EQ(Tensor::Of<int32_t>(Shape{40}, numbers).ToString(),
            "[ 0  1  2  3  4  5  6  7  8  9 10 11 12 13 14 15 16 17 18 19 20 21 22 23\n"
            " 24 25 26 27 28 29 30 31 32 33 34 35 36 37 38 39]");
}

TEST(CppPrint, SummarizesLargeTensors) {
  std::vector<float> numbers(1200);
  for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<float>(i);
  EXPECT_EQ(Tensor::Of<float>(Shape{1200}, numbers).ToString(),
            "[0.000e+00 1.000e+00 2.000e+00 ... 1.197e+03 1.198e+03 1.199e+03]");
  EXPECT_EQ(Tensor::Of<float>(Shape{2, 600}, numbers).ToString(),
            "[[0.000e+00 1.000e+00 2.000e+00 ... 5.970e+02 5.980e+02 5.990e+02]\n"
            " [6.000e+02 6.010e+02 6.020e+02 ... 1.197e+03 1.198e+03 1.199e+03]]");
}

TEST(CppPrint, KnowsShortTypesAndComplexNumbers) {
  const Tensor tenth = Op("Cast").Input(Tensor(0.1f)).Attr("DstT", DType::kHalf).RunOne();
  EXPECT_EQ(tenth.ToString(), "0.1");
  const Tensor complex =
      Op("Complex").Input(Tensor::Of<float>({1, 0.5f})).Input(Tensor::Of<float>({-2, 10})).RunOne();
  EXPECT_EQ(complex.ToString(), "[1.  -2.j 0.5+10.j]");
}

TEST(CppPrint, NamesSymbols) {
  Function f([](Tensor x) {
    std::ostringstream out;
    out << x + 1;
    EXPECT_EQ(out.str(), "Tensor(\"AddV2:0\", shape=(None, 2), dtype=float32)");
    return x;
  });
  f.Concrete(TensorSpec(DType::kFloat, {-1, 2}));
}

}  // namespace
}  // namespace tenon
