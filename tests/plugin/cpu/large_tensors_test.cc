// Kernels that only move memory, on tensors that their fast loops divide into blocks, panels and
// tiles: right, and the same bits whatever the number of threads. Small ones are the op cases'
// business.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "plugin/cpu/reduction/reduce_loops.h"
#include "tests/plugin/cpu/float_op_util.h"

namespace tenon::testing {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

Tensor Reduce(const std::string& op, const Tensor& x, int axis) {
  return RunEveryWay(op, {{"Tidx", attr::Type(DataType::kInt32)}, {"keep_dims", attr::Bool(false)}},
                     {x, Int32s({axis})});
}

struct MatrixCase {
  int64_t rows, columns;
};
std::ostream& operator<<(std::ostream& out, const MatrixCase& c) {
  return out << c.rows << "x" << c.columns;
}

class Matrices : public ::testing::TestWithParam<MatrixCase> {
 protected:
  int64_t rows() const { return GetParam().rows; }
  int64_t columns() const { return GetParam().columns; }
  Tensor Numbers() const { return Noise(Shape({rows(), columns()}), 1); }
  // Calls f(output, the column or row that it is made of).
  template <typename F>
  void ForLines(const Tensor& x, int axis, F f) const {
    const int64_t lines = axis == 0 ? columns() : rows(), n = axis == 0 ? rows() : columns();
    std::vector<float> line(n);
    for (int64_t i = 0; i < lines; ++i) {
      for (int64_t k = 0; k < n; ++k)
        line[k] = x.flat<float>()[axis == 0 ? k * columns() + i : i * columns() + k];
      f(i, line);
    }
  }
};

TEST_P(Matrices, AreSummedMoreExactlyThanInFloat) {
  const Tensor x = Numbers();
  for (int axis : {0, 1}) {
    const Tensor sum = Reduce("Sum", x, axis), mean = Reduce("Mean", x, axis);
    ForLines(x, axis, [&](int64_t i, const std::vector<float>& line) {
      double want = 0, size = 0;
      for (float v : line) {
        want += v;
        size += std::abs(v);
      }
      // As many roundings of the largest partial sums as 64 additions in a lane may make.
      const double tolerance = 64 * 6e-8 * size;
      ASSERT_NEAR(sum.flat<float>()[i], want, tolerance) << axis << ", " << i;
      ASSERT_NEAR(mean.flat<float>()[i], want / static_cast<double>(line.size()),
                  tolerance / static_cast<double>(line.size()))
          << axis << ", " << i;
    });
  }
}

TEST_P(Matrices, HaveTheirExtremesNotANumberIncluded) {
  const Tensor x = Numbers();
  float* data = x.flat<float>();
  const int64_t n = x.num_elements();
  data[n / 3] = kNan;
  data[n / 2] = kInf;
  data[n / 2 + 1 < n ? n / 2 + 1 : 0] = -kInf;
  data[n - 1] = -kNan;
  for (int axis : {0, 1}) {
    const Tensor max = Reduce("Max", x, axis), min = Reduce("Min", x, axis);
    ForLines(x, axis, [&](int64_t i, const std::vector<float>& line) {
      const float got_max = max.flat<float>()[i], got_min = min.flat<float>()[i];
      if (std::any_of(line.begin(), line.end(), [](float v) { return std::isnan(v); })) {
        ASSERT_TRUE(std::isnan(got_max) && std::isnan(got_min)) << axis << ", " << i;
      } else {
        ASSERT_EQ(got_max, *std::max_element(line.begin(), line.end())) << axis << ", " << i;
        ASSERT_EQ(got_min, *std::min_element(line.begin(), line.end())) << axis << ", " << i;
      }
    });
  }
}

TEST_P(Matrices, AreTransposed) {
  const Tensor x = Numbers();
  const Tensor got =
      RunEveryWay("Transpose", {{"Tperm", attr::Type(DataType::kInt32)}}, {x, Int32s({1, 0})});
  ASSERT_EQ(got.shape(), Shape({columns(), rows()}));
  ForLines(x, 0, [&](int64_t i, const std::vector<float>& column) {
    ASSERT_EQ(memcmp(got.flat<float>() + i * rows(), column.data(), rows() * sizeof(float)), 0)
        << i;
  });
}

TEST_P(Matrices, MeetRowsColumnsAndScalars) {
  const Tensor x = Numbers();
  const Shape shapes[] = {Shape({columns()}), Shape({rows(), 1}), Shape()};
  for (const Shape& shape : shapes) {
    const Tensor y = Noise(shape, 2);
    for (bool swapped : {false, true}) {
      const Tensor got = swapped ? RunEveryWay("Sub", {}, {y, x}) : RunEveryWay("Sub", {}, {x, y});
      ASSERT_EQ(got.shape(), x.shape());
      for (int64_t i = 0; i < x.num_elements(); ++i) {
        const int64_t at = shape.rank() == 0   ? 0
                           : shape.rank() == 1 ? i % columns()
                                               : i / columns();
        const float a = x.flat<float>()[i], b = y.flat<float>()[at];
        ASSERT_EQ(got.flat<float>()[i], swapped ? b - a : a - b) << shape.ToString() << ", " << i;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, Matrices,
                         ::testing::Values(MatrixCase{64, 64}, MatrixCase{2, 70001},
                                           MatrixCase{70001, 2}, MatrixCase{37, 5},
                                           MatrixCase{7, 4111}, MatrixCase{333, 129},
                                           MatrixCase{512, 1024}, MatrixCase{2100, 47},
                                           MatrixCase{130, 16}, MatrixCase{40, 32},
                                           MatrixCase{19, 128}, MatrixCase{64, 4096},
                                           MatrixCase{72, 1031}, MatrixCase{1024, 80},
                                           MatrixCase{1024, 1024}));

TEST(Extremes, FindWhatIsNotANumberAnywhere) {
  for (cpu::ReduceOp op : {cpu::ReduceOp::kMax, cpu::ReduceOp::kMin}) {
    const cpu::ReduceLoops loops = cpu::FindReduceLoops(op, DataType::kFloat);
    for (int64_t n : {1, 3, 8, 15, 16, 17, 32, 64, 75, 128, 200}) {
      const int64_t rows = 17, line = n * static_cast<int64_t>(sizeof(float));
      std::vector<float> x(rows * n, 1), of_rows(rows), of_columns(n);
      for (int64_t at = 0; at < rows * n; ++at) {
        x[at] = kNan;
        loops.short_runs(x.data(), line, rows, n, of_rows.data());
        loops.short_rows(x.data(), line, rows, n, of_columns.data());
        for (int64_t i = 0; i < rows; ++i)
          ASSERT_EQ(std::isnan(of_rows[i]), i == at / n) << n << ", " << at;
        for (int64_t i = 0; i < n; ++i)
          ASSERT_EQ(std::isnan(of_columns[i]), i == at % n) << n << ", " << at;
        x[at] = 1;
      }
    }
  }
}

// The middle dimension of one operand, and the outer ones of the other one, repeat.
TEST(Broadcasts, OfThreeDimensions) {
  const Tensor x = Noise(Shape({70, 1, 65}), 1), y = Noise(Shape({1, 31, 65}), 2);
  const Tensor got = RunEveryWay("Mul", {}, {x, y});
  ASSERT_EQ(got.shape(), Shape({70, 31, 65}));
  for (int64_t i = 0; i < got.num_elements(); ++i) {
    const int64_t a = i / (31 * 65) * 65 + i % 65, b = i % (31 * 65);
    ASSERT_EQ(got.flat<float>()[i], x.flat<float>()[a] * y.flat<float>()[b]) << i;
  }
}

// Above the size from which results are written past the caches.
TEST(Transposes, LargerThanTheCaches) {
  const int64_t rows = 4096, columns = 2080;
  const Tensor x = Noise(Shape({rows, columns}), 1);
  const Tensor got =
      RunEveryWay("Transpose", {{"Tperm", attr::Type(DataType::kInt32)}}, {x, Int32s({1, 0})});
  std::vector<float> column(rows);
  for (int64_t i = 0; i < columns; ++i) {
    for (int64_t k = 0; k < rows; ++k) column[k] = x.flat<float>()[k * columns + i];
    ASSERT_EQ(memcmp(got.flat<float>() + i * rows, column.data(), rows * sizeof(float)), 0) << i;
  }
}

}  // namespace
}  // namespace tenon::testing
