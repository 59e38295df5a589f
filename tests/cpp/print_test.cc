// Tensors as text. What is expected is what NumPy prints.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <sstream>
#include <string>
#include <vector>

#include "tenon/tenon.h"

namespace tenon {
namespace {

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
