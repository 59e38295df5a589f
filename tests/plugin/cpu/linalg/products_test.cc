// Products of matrices of types other than float: blocks, edges of blocks, tiles and depths.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "graph/op_defs/attr_value.h"
#include "plugin/cpu/base/element.h"
#include "tests/plugin/cpu/cpu_kernel_util.h"

namespace tenon {
namespace {

using testing::RunSteadily;
using Wide = std::complex<double>;

// Values that all types have, small enough for sums that integers and halves hold exactly.
Tensor SmallIntegers(DataType type, const Shape& shape, uint32_t seed) {
  std::vector<char> bytes(static_cast<size_t>(shape.num_elements()) * DataTypeSize(type));
  cpu::VisitElement(type, [&](auto store) {
    for (int64_t i = 0; i < shape.num_elements(); ++i) {
      seed = seed * 1664525u + 1013904223u;
      const int part = static_cast<int>(seed >> 30) - 1,
                other = static_cast<int>(seed >> 28 & 3) - 2;
      store.Put(bytes.data(), i, Wide(part, IsComplex(type) ? other : 0));
    }
  });
  return Tensor::CopyOf(type, shape, bytes.data(), bytes.size());
}

std::vector<Wide> ValuesOf(const Tensor& tensor) {
  std::vector<Wide> values;
  cpu::VisitElement(tensor.dtype(), [&](auto load) {
    for (int64_t i = 0; i < tensor.num_elements(); ++i)
      values.push_back(load.template As<Wide>(tensor.data(), i));
  });
  return values;
}

struct Product {
  int64_t batch, m, k, n;
  bool adjoint_a = false, adjoint_b = false;
};

// The element of a matrix [rows, columns], or of its adjoint.
Wide At(const std::vector<Wide>& values, int64_t from, int64_t row, int64_t column, int64_t rows,
        int64_t columns, bool adjoint) {
  return adjoint ? std::conj(values[from + column * rows + row])
                 : values[from + row * columns + column];
}

void Check(DataType type, const Product& p) {
  SCOPED_TRACE(absl::StrCat(DataTypeName(type), " ", p.batch, " of ", p.m, "x", p.k, "x", p.n, " ",
                            p.adjoint_a, p.adjoint_b));
  const Tensor a =
      SmallIntegers(type, p.adjoint_a ? Shape({p.batch, p.k, p.m}) : Shape({p.batch, p.m, p.k}), 1);
  const Tensor b =
      SmallIntegers(type, p.adjoint_b ? Shape({1, p.n, p.k}) : Shape({1, p.k, p.n}), 2);
  const Tensor c = RunSteadily("BatchMatMulV2",
                               {{"T", attr::Type(type)},
                                {"adj_x", attr::Bool(p.adjoint_a)},
                                {"adj_y", attr::Bool(p.adjoint_b)}},
                               {a, b}, {2, 5})[0];
  ASSERT_EQ(c.shape(), Shape({p.batch, p.m, p.n}));
  const std::vector<Wide> left = ValuesOf(a), right = ValuesOf(b), got = ValuesOf(c);
  for (int64_t i = 0, at = 0; i < p.batch; ++i) {
    for (int64_t r = 0; r < p.m; ++r) {
      for (int64_t j = 0; j < p.n; ++j, ++at) {
        Wide sum = 0;
        for (int64_t q = 0; q < p.k; ++q) {
          sum += At(left, i * p.m * p.k, r, q, p.m, p.k, p.adjoint_a) *
                 At(right, 0, q, j, p.k, p.n, p.adjoint_b);
        }
        ASSERT_EQ(got[at], sum) << i << ", " << r << ", " << j;
      }
    }
  }
}

constexpr DataType kTypes[] = {DataType::kHalf,      DataType::kBfloat16,  DataType::kDouble,
                               DataType::kInt16,     DataType::kInt32,     DataType::kInt64,
                               DataType::kComplex64, DataType::kComplex128};

TEST(PackedProducts, OfAllSizesAroundABlock) {
  for (const DataType type : kTypes) {
    for (const int64_t m : {1, 5, 6, 7, 12, 13}) {
      for (const int64_t n : {1, 3, 16, 17, 33}) Check(type, {1, m, 4, n});
    }
  }
}

TEST(PackedProducts, OfAdjoints) {
  for (const DataType type : kTypes) {
    for (const auto& [a, b] : {std::pair(true, false), {false, true}, {true, true}})
      Check(type, {3, 14, 9, 20, a, b});
  }
}

// Deeper than one block of a row, with several tiles in both directions.
TEST(PackedProducts, OfManyTiles) {
  for (const DataType type : {DataType::kDouble, DataType::kInt32, DataType::kComplex64})
    Check(type, {2, 101, 259, 531});
}

TEST(PackedProducts, WithoutTermsAreZero) {
  for (const DataType type : kTypes) Check(type, {2, 3, 0, 5});
}

TEST(PackedProducts, WrapAround) {
  const std::vector<int32_t> large(300, 1 << 30);
  const Tensor row = Tensor::Of<int32_t>(DataType::kInt32, large, Shape({1, 300}));
  const Tensor column = Tensor::Of<int32_t>(DataType::kInt32, large, Shape({300, 1}));
  const Tensor c = RunSteadily("MatMul", {{"T", attr::Type(DataType::kInt32)}}, {row, column})[0];
  EXPECT_EQ(c.flat<int32_t>()[0], 0);  // 300 * 2^60
}

TEST(PackedProducts, KeepNanAndInfinity) {
  const double nan = std::nan(""), inf = HUGE_VAL;
  const Tensor a = Tensor::Of<double>(DataType::kDouble, std::vector<double>{nan, 1, inf, 1, 0, 1},
                                      Shape({3, 2}));
  const Tensor b = Tensor::Of<double>(DataType::kDouble, std::vector<double>{0, 2}, Shape({2, 1}));
  const Tensor c = RunSteadily("MatMul", {{"T", attr::Type(DataType::kDouble)}}, {a, b})[0];
  EXPECT_TRUE(std::isnan(c.flat<double>()[0]));
  EXPECT_TRUE(std::isnan(c.flat<double>()[1]));
  EXPECT_EQ(c.flat<double>()[2], 2);
}

}  // namespace
}  // namespace tenon
