// What the op cases do not reach: results whatever the number of threads, errors in the middle of a
// batch, matrices without an answer, hostile attributes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <limits>
#include <string>
#include <vector>

#include "graph/op_defs/attr_value.h"
#include "tests/plugin/cpu/cpu_kernel_util.h"

namespace tenon {
namespace {

using testing::Attrs;
using ::testing::HasSubstr;
using testing::RunCpuKernel;
using testing::RunSteadily;
using Complex = std::complex<double>;

Tensor Doubles(const Shape& shape, const std::vector<double>& values) {
  return Tensor::Of<double>(DataType::kDouble, values, shape);
}

const Attrs kDouble = {{"T", attr::Type(DataType::kDouble)}};
const Attrs kComplex = {{"T", attr::Type(DataType::kComplex128)}};

// [count, n, n], diagonally dominant.
Tensor Matrices(int64_t count, int64_t n) {
  std::vector<double> values(count * n * n);
  uint32_t x = 7;
  for (size_t i = 0; i < values.size(); ++i) {
    x = x * 1664525u + 1013904223u;
    values[i] = static_cast<double>(x >> 8) / (1 << 24);
    if (static_cast<int64_t>(i) % (n * n) % (n + 1) == 0) values[i] += static_cast<double>(n);
  }
  return Doubles(Shape({count, n, n}), values);
}

TEST(MatrixOps, GiveTheSameBitsWhateverTheThreads) {
  const Tensor matrices = Matrices(50, 24);
  for (const char* op : {"MatrixInverse", "Qr", "Svd", "SelfAdjointEigV2", "MatrixExponential"})
    RunSteadily(op, kDouble, {matrices});
}

TEST(FourierOps, GiveTheSameBitsWhateverTheThreads) {
  const std::vector<double> wave(2 * 40 * 64 * 30, 0.37);
  const Tensor signal = Doubles(Shape({2, 40, 64, 30}), wave);
  const std::vector<int32_t> lengths = {40, 64, 30};
  const Tensor length = Tensor::Of<int32_t>(DataType::kInt32, lengths, Shape({3}));
  const Attrs attrs = {{"Tcomplex", attr::Type(DataType::kComplex128)},
                       {"Treal", attr::Type(DataType::kDouble)}};
  const Tensor spectrum = RunSteadily("RFFT3D", attrs, {signal, length})[0];
  ASSERT_EQ(spectrum.shape(), Shape({2, 40, 64, 16}));
  EXPECT_NEAR(spectrum.flat<Complex>()[0].real(), 0.37 * 40 * 64 * 30, 1e-9);
}

TEST(Determinants, AreNotFiniteWhereTheMatrixIsNot) {
  const double inf = std::numeric_limits<double>::infinity();
  const auto run = [](double a, double b) {
    return RunCpuKernel("LogMatrixDeterminant", kDouble, {Doubles(Shape({2, 2}), {a, b, 2, 3})});
  };
  const auto of_nan = run(1, std::nan(""));
  ASSERT_TRUE(of_nan.ok()) << of_nan.status();
  EXPECT_TRUE(std::isnan((*of_nan)[0].flat<double>()[0]));
  EXPECT_TRUE(std::isnan((*of_nan)[1].flat<double>()[0]));
  const auto of_infinity = run(-inf, 1);
  ASSERT_TRUE(of_infinity.ok()) << of_infinity.status();
  EXPECT_EQ((*of_infinity)[0].flat<double>()[0], -1);
  EXPECT_EQ((*of_infinity)[1].flat<double>()[0], inf);
}

TEST(MatrixOps, NameTheFirstMatrixThatFails) {
  Tensor matrices = Matrices(40, 3);
  for (int64_t singular : {33, 17}) std::fill_n(matrices.flat<double>() + 9 * singular, 9, 1);
  for (int threads : {1, 3}) {
    const auto result = RunCpuKernel("MatrixInverse", kDouble, {matrices}, threads);
    EXPECT_EQ(result.status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(result.status().message()),
                HasSubstr("not invertible. (matrix 17 of the batch)"));
  }
}

TEST(Cholesky, OfAnIndefiniteMatrixIsNan) {
  const auto l = RunCpuKernel("Cholesky", kDouble, {Doubles(Shape({2, 2}), {1, 2, 2, 1})});
  ASSERT_TRUE(l.ok()) << l.status();
  const double* x = (*l)[0].flat<double>();
  EXPECT_TRUE(std::isnan(x[0]) && std::isnan(x[2]) && std::isnan(x[3]));
  EXPECT_EQ(x[1], 0);
}

Tensor Complexes(const Shape& shape, const std::vector<Complex>& values) {
  return Tensor::Of<Complex>(DataType::kComplex128, values, shape);
}

TEST(MatrixLogarithm, EndsForMatricesWithoutOne) {
  const auto singular =
      RunCpuKernel("MatrixLogarithm", kComplex, {Complexes(Shape({2, 2}), {1, 2, 0, 0})});
  EXPECT_EQ(singular.status().code(), absl::StatusCode::kInvalidArgument);
  for (double odd : {static_cast<double>(NAN), HUGE_VAL}) {
    const auto log =
        RunCpuKernel("MatrixLogarithm", kComplex, {Complexes(Shape({2, 2}), {1, 2, 0, odd})});
    ASSERT_TRUE(log.ok()) << log.status();
    EXPECT_TRUE(std::isnan((*log)[0].flat<Complex>()[0].real()));
  }
  // Eigenvalues far apart: either an answer or NaN, but not a loop without end.
  EXPECT_TRUE(RunCpuKernel("MatrixLogarithm", kComplex,
                           {Complexes(Shape({2, 2}), {1e-300, 1e300, 0, 1e300})})
                  .ok());
}

TEST(MatrixLogarithm, IsUndoneByTheExponential) {
  const std::vector<Complex> values = {{2, 1}, 3, -1, {0, 4}, 5, 1, 0, {1, -1}, 9};
  const auto log = RunCpuKernel("MatrixLogarithm", kComplex, {Complexes(Shape({3, 3}), values)});
  ASSERT_TRUE(log.ok()) << log.status();
  const auto back = RunCpuKernel("MatrixExponential", kComplex, {(*log)[0]});
  ASSERT_TRUE(back.ok()) << back.status();
  for (int i = 0; i < 9; ++i)
    EXPECT_LT(std::abs((*back)[0].flat<Complex>()[i] - values[i]), 1e-13) << i;
}

TEST(MatrixSquareRoot, OfHugeAndOfSmallMatricesNeitherOverflowsNorVanishes) {
  for (double scale : {1e300, 1e-300}) {
    const std::vector<double> values = {5 * scale, 4 * scale, 4 * scale, 5 * scale};
    const auto root = RunCpuKernel("MatrixSquareRoot", kDouble, {Doubles(Shape({2, 2}), values)});
    ASSERT_TRUE(root.ok()) << root.status();
    const double* x = (*root)[0].flat<double>();
    EXPECT_NEAR(x[0] / std::sqrt(scale), 2, 1e-13);
    EXPECT_NEAR(x[1] / std::sqrt(scale), 1, 1e-13);
  }
}

TEST(Eigenvalues, OfNanAreAnError) {
  const Tensor matrix = Doubles(Shape({2, 2}), {1, 2, NAN, 3});
  EXPECT_EQ(RunCpuKernel("SelfAdjointEigV2", kDouble, {matrix}).status().code(),
            absl::StatusCode::kInvalidArgument);
  const Attrs attrs = {{"T", attr::Type(DataType::kDouble)},
                       {"Tout", attr::Type(DataType::kComplex128)}};
  EXPECT_EQ(RunCpuKernel("Eig", attrs, {matrix}).status().code(),
            absl::StatusCode::kInvalidArgument);
  const Attrs narrow = {{"T", attr::Type(DataType::kDouble)},
                        {"Tout", attr::Type(DataType::kComplex64)}};
  EXPECT_THAT(std::string(RunCpuKernel("Eig", narrow, {matrix}).status().message()),
              HasSubstr("Tout"));
}

TEST(AudioOps, RefuseSizesBeyondMemory) {
  const std::vector<float> samples(8, 1.0f);
  const auto spectrogram = RunCpuKernel(
      "AudioSpectrogram", {{"window_size", attr::Int(2147483647)}, {"stride", attr::Int(1)}},
      {Tensor::Of<float>(DataType::kFloat, samples, Shape({8, 1}))});
  ASSERT_TRUE(spectrogram.ok()) << spectrogram.status();
  EXPECT_EQ((*spectrogram)[0].shape(), Shape({1, 0, 1073741825}));
  const std::vector<int32_t> rate = {16000};
  const auto mfcc = RunCpuKernel("Mfcc",
                                 {{"filterbank_channel_count", attr::Int(2147483647)},
                                  {"dct_coefficient_count", attr::Int(2147483647)}},
                                 {Tensor::Of<float>(DataType::kFloat, samples, Shape({1, 1, 8})),
                                  Tensor::Of<int32_t>(DataType::kInt32, rate, Shape())});
  EXPECT_EQ(mfcc.status().code(), absl::StatusCode::kResourceExhausted);
}

}  // namespace
}  // namespace tenon
