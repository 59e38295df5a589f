// Products with weights in codes, beside sums in double of the same codes, which are made here by
// their definition; and how far codes are from the floats that they stand for.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "graph/op_defs/attr_value.h"
#include "plugin/cpu/linalg/coded/coded_loops.h"
#include "plugin/cpu/linalg/coded/coded_weights.h"
#include "tests/plugin/cpu/float_op_util.h"

namespace tenon {
namespace coded_test {

using testing::Floats;
using testing::RunCpuKernel;
using testing::RunSteadily;
using testing::Values;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

std::vector<float> Normals(int64_t count, uint32_t seed, float scale = 1) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal(0, scale);
  std::vector<float> values(static_cast<size_t>(count));
  for (float& v : values) v = normal(random);
  return values;
}

struct Problem {
  int64_t m, k, n;
  bool transposed = false;
  std::vector<float> a, b;  // [m, k], [k, n]

  Tensor A() const { return Floats(Shape({m, k}), a); }
  Tensor B() const {
    if (!transposed) return Floats(Shape({k, n}), b);
    std::vector<float> turned(b.size());
    for (int64_t p = 0; p < k; ++p) {
      for (int64_t j = 0; j < n; ++j) turned[j * k + p] = b[p * n + j];
    }
    return Floats(Shape({n, k}), turned);
  }
};
Problem Random(int64_t m, int64_t k, int64_t n, bool transposed = false) {
  return {m, k, n, transposed, Normals(m * k, 1), Normals(k * n, 2, 0.1f)};
}

testing::Attrs AttrsOf(const std::string& code, bool transposed) {
  return {{"T", attr::Type(DataType::kFloat)},
          {"code", attr::String(code)},
          {"transpose_b", attr::Bool(transposed)}};
}
Tensor RunCoded(const std::string& code, const Problem& q) {
  return RunSteadily("_TenonCodedMatMul", AttrsOf(code, q.transposed), {q.A(), q.B()}, {3})[0];
}

// The nearest bfloat16, ties to even.
double Bfloat16(float x) {
  const double ulp = x == 0 ? 1 : std::ldexp(1.0, std::ilogb(x) - 7);
  return std::nearbyint(x / ulp) * ulp;
}

// The weights that codes of 4 bits stand for, as the panels have them.
std::vector<double> Decoded4(const Problem& q) {
  Workers workers(1);
  const Workers::Runner runner(workers);
  const auto panels = cpu::MakeCodedPanels(workers, {q.b.data(), q.k, q.n, false}, 4).value();
  std::vector<double> decoded(q.b.size());
  std::vector<float> column(static_cast<size_t>(q.k));
  for (int64_t j = 0; j < q.n; ++j) {
    cpu::ExpandColumn(*panels, q.k, 4, j, column.data());
    for (int64_t p = 0; p < q.k; ++p) decoded[p * q.n + j] = column[p];
  }
  return decoded;
}

// The weights that the codes stand for. Those of 4 bits have the scale with the least error, unless
// `plain` asks for the one that takes the largest magnitude to -8.
std::vector<double> Decoded(const std::string& code, const Problem& q, bool plain = false) {
  if (code == "int4" && !plain) return Decoded4(q);
  std::vector<double> decoded(q.b.size());
  const bool by_column = code == "int8_dynamic";
  const int64_t rows = by_column ? std::max<int64_t>(q.k, 1) : 32;
  const double least = code == "int4" ? -8 : -127, most = code == "int4" ? 7 : 127;
  for (int64_t j = 0; j < q.n; ++j) {
    for (int64_t first = 0; first < q.k; first += rows) {
      const int64_t end = std::min(q.k, first + rows);
      float extreme = 0;
      for (int64_t p = first; p < end; ++p) {
        const float w = q.b[p * q.n + j];
        if (std::abs(w) > std::abs(extreme)) extreme = w;
      }
      const double scale = by_column ? std::abs(double{extreme}) / 127
                                     : Bfloat16(extreme / static_cast<float>(least));
      for (int64_t p = first; p < end; ++p) {
        const double c = scale == 0 ? 0 : std::nearbyint(q.b[p * q.n + j] / scale);
        decoded[p * q.n + j] = std::clamp(c, least, most) * scale;
      }
    }
  }
  return decoded;
}

// The rows that their bytes stand for, and a step of each.
std::vector<double> DecodedRow(const float* x, int64_t k, double* step) {
  float low = 0, high = 0;
  for (int64_t p = 0; p < k; ++p) {
    low = std::min(low, x[p]);
    high = std::max(high, x[p]);
  }
  *step = (double{high} - low) / 255;
  std::vector<double> decoded(static_cast<size_t>(k));
  const double zero = *step == 0 ? 0 : std::nearbyint(-low / *step);
  for (int64_t p = 0; p<k&& * step> 0; ++p)
    decoded[p] = (std::clamp(std::nearbyint(x[p] / *step + zero), 0.0, 255.0) - zero) * *step;
  return decoded;
}

void Check(const std::string& code, const Problem& q) {
  SCOPED_TRACE(absl::StrCat(code, " ", q.m, "x", q.k, "x", q.n, " ", q.transposed));
  const Tensor y = RunCoded(code, q);
  ASSERT_EQ(y.shape(), Shape({q.m, q.n}));
  const std::vector<double> weights = Decoded(code, q);
  double squares = 0, squared_errors = 0;
  for (int64_t i = 0; i < q.m; ++i) {
    double step = 0;
    std::vector<double> row(q.a.begin() + i * q.k, q.a.begin() + (i + 1) * q.k);
    if (code == "int8_dynamic") row = DecodedRow(q.a.data() + i * q.k, q.k, &step);
    for (int64_t j = 0; j < q.n; ++j) {
      double sum = 0, magnitude = 0, largest = 0, exact = 0;
      for (int64_t p = 0; p < q.k; ++p) {
        const double w = weights[p * q.n + j];
        sum += row[p] * w;
        magnitude += std::abs(row[p] * w);
        largest = std::max(largest, std::abs(w));
        exact += double{q.a[i * q.k + p]} * q.b[p * q.n + j];
      }
      const double got = Values(y)[i * q.n + j];
      // A byte may be the neighbour of the right one, where the number lies in the middle.
      ASSERT_NEAR(got, sum, 2e-6 * magnitude + 3 * step * largest + 1e-30) << i << ", " << j;
      squares += exact * exact;
      squared_errors += (got - exact) * (got - exact);
    }
  }
  if (q.k >= 32 && q.m * q.n > 60)
    EXPECT_LT(std::sqrt(squared_errors / squares), code == "int4" ? 0.15 : 0.02);
}

constexpr const char* kCodes[] = {"int8_dynamic", "int8", "int4"};

TEST(CodedProducts, OfAllSizes) {
  for (const std::string code : kCodes) {
    for (const int64_t m : {1, 2, 3, 4, 5, 13, 40}) {
      for (const int64_t k : {1, 31, 32, 33, 300}) {
        for (const int64_t n : {1, 63, 64, 65, 200}) Check(code, Random(m, k, n, (m + n) % 2 != 0));
      }
    }
    Check(code, Random(1, 1100, 130));
    Check(code, Random(30, 1100, 70, true));
  }
}

TEST(CodedProducts, OfNothing) {
  for (const std::string code : kCodes) {
    EXPECT_EQ(RunCoded(code, Random(0, 40, 70)).shape(), Shape({0, 70}));
    EXPECT_EQ(RunCoded(code, Random(3, 40, 0)).shape(), Shape({3, 0}));
    for (const int64_t m : {2, 9}) {
      const Tensor zeros = RunCoded(code, Random(m, 0, 70));
      for (const float y : Values(zeros)) EXPECT_EQ(y, 0);
    }
  }
}

// Rows and columns of zeros give zeros, and leave the others alone; so do denormals, whose products
// are 0 or next to it.
TEST(CodedProducts, OfZerosAndDenormals) {
  for (const std::string code : kCodes) {
    for (const int64_t m : {3, 9}) {
      Problem q = Random(m, 70, 80);
      for (int64_t p = 0; p < q.k; ++p) {
        q.a[p] = 0;
        q.a[2 * q.k + p] = 1e-41f;
        q.b[p * q.n + 5] = 0;
        q.b[p * q.n + 6] = 1e-42f;
      }
      const Tensor y = RunCoded(code, q);
      for (int64_t j = 0; j < q.n; ++j) {
        EXPECT_EQ(Values(y)[j], 0) << j;
        EXPECT_NEAR(Values(y)[2 * q.n + j], 0, 1e-36) << j;
      }
      for (int64_t i = 0; i < m; ++i) {
        EXPECT_EQ(Values(y)[i * q.n + 5], 0);
        EXPECT_NEAR(Values(y)[i * q.n + 6], 0, 1e-36);
      }
      q.a.erase(q.a.begin(), q.a.begin() + q.k);  // the row of zeros
      q.a.erase(q.a.begin() + q.k, q.a.begin() + 2 * q.k);
      q.m -= 2;
      const Tensor rest = RunCoded(code, q);
      for (int64_t j = 0; j < q.n; ++j) EXPECT_EQ(Values(rest)[j], Values(y)[q.n + j]) << j;
    }
  }
}

// Up to where codes times numbers are infinite, and down to where scales are denormals, which
// int8_dynamic does not know.
TEST(CodedProducts, LargeAndSmallNumbers) {
  for (const std::string code : kCodes) {
    const float power = code == "int8_dynamic" ? 1e36f : 1e34f;
    for (const float scale : {power, 1 / power}) {
      Problem q = Random(2, 64, 70);
      for (float& a : q.a) a *= scale;
      for (float& b : q.b) b *= 1 / scale;
      Check(code, q);
    }
  }
}

// A NaN makes its row NaN. An infinity makes its row infinite or NaN, with int8_dynamic NaN. Other
// rows are as they are without it.
TEST(CodedProducts, NanAndInfinitiesStayInTheirRow) {
  for (const std::string code : kCodes) {
    for (const float wrong : {kNan, kInfinity, -kInfinity}) {
      for (const int64_t m : {2, 8}) {
        Problem q = Random(m, 65, 70);
        const Tensor before = RunCoded(code, q);
        q.a[q.k + 64] = wrong;
        const Tensor y = RunCoded(code, q);
        for (int64_t j = 0; j < q.n; ++j) {
          EXPECT_EQ(Values(y)[j], Values(before)[j]);
          const float at = Values(y)[q.n + j];
          EXPECT_FALSE(std::isfinite(at)) << at;
          if (std::isnan(wrong) || code == "int8_dynamic") EXPECT_TRUE(std::isnan(at)) << at;
        }
      }
    }
  }
}

TEST(CodedProducts, FuseWhatFollows) {
  for (const std::string code : kCodes) {
    for (const int64_t m : {3, 9}) {
      const Problem q = Random(m, 96, 100);
      const Tensor y = RunCoded(code, q), bias = Floats(Shape({q.n}), Normals(q.n, 3)),
                   add = Floats(Shape({q.m, q.n}), Normals(q.m * q.n, 4));
      testing::Attrs attrs = AttrsOf(code, false);
      attrs["num_args"] = attr::Int(2);
      attrs["fused_ops"] = attr::StringList({"BiasAdd", "Add", "Relu"});
      const Tensor fused =
          RunSteadily("_TenonCodedMatMul", attrs, {q.A(), q.B(), bias, add}, {3})[0];
      for (int64_t i = 0; i < m * q.n; ++i) {
        const double right = double{Values(y)[i]} + Values(bias)[i % q.n] + Values(add)[i];
        EXPECT_NEAR(Values(fused)[i], std::max(right, 0.0), 1e-5) << i;
      }
    }
  }
}

TEST(CodedProducts, LeadingDimensionsAreRows) {
  for (const std::string code : kCodes) {
    const Problem q = Random(6, 64, 24);
    const Tensor flat = RunCoded(code, q);
    const Tensor deep =
        RunSteadily("_TenonCodedMatMul", AttrsOf(code, false),
                    {q.A().Reshaped(Shape({2, 3, 64})), q.B().Reshaped(Shape({64, 4, 6}))})[0];
    EXPECT_EQ(deep.shape(), Shape({2, 3, 4, 6}));
    for (int64_t i = 0; i < flat.num_elements(); ++i) EXPECT_EQ(Values(deep)[i], Values(flat)[i]);
  }
}

TEST(CodedProducts, RefuseWhatHasNoCodes) {
  for (const std::string code : kCodes) {
    Problem q = Random(2, 40, 70);
    const auto variable = RunCpuKernel("_TenonCodedMatMul", AttrsOf(code, false), {q.A(), q.B()}, 1,
                                       /*constant=*/false);
    EXPECT_EQ(variable.status().code(), absl::StatusCode::kUnimplemented) << variable.status();
    for (const float wrong : {kNan, kInfinity}) {
      q.b[77] = wrong;
      const auto run = RunCpuKernel("_TenonCodedMatMul", AttrsOf(code, false), {q.A(), q.B()});
      EXPECT_EQ(run.status().code(), absl::StatusCode::kInvalidArgument) << run.status();
    }
  }
  const Problem q = Random(1, 65537, 2);
  const auto run =
      RunCpuKernel("_TenonCodedMatMul", AttrsOf("int8_dynamic", false), {q.A(), q.B()});
  EXPECT_EQ(run.status().code(), absl::StatusCode::kUnimplemented) << run.status();
}

// By blocks of 32 rows of a column; all of them together lose more than a tenth less.
TEST(CodedProducts, FourBitsHaveTheScaleOfTheLeastError) {
  const Problem q = Random(1, 100, 50);
  const std::vector<double> best = Decoded("int4", q), plain = Decoded("int4", q, true);
  double all = 0, all_plain = 0;
  for (int64_t j = 0; j < q.n; ++j) {
    for (int64_t first = 0; first < q.k; first += 32) {
      double error = 0, error_plain = 0;
      for (int64_t i = first; i < std::min(q.k, first + 32); ++i) {
        const int64_t at = i * q.n + j;
        error += (best[at] - q.b[at]) * (best[at] - q.b[at]);
        error_plain += (plain[at] - q.b[at]) * (plain[at] - q.b[at]);
      }
      EXPECT_LE(error, error_plain * 1.00001) << first << ", " << j;
      all += error;
      all_plain += error_plain;
    }
  }
  EXPECT_LT(all, 0.9 * all_plain);
}

// Rows of a table are those of the product of one-hot rows with it.
TEST(CodedGathers, RowsAreThoseOfTheProduct) {
  for (const int bits : {4, 8}) {
    const std::string code = absl::StrCat("int", bits);
    const Problem q = Random(1, 70, 90, /*transposed=*/true);
    const std::vector<double> decoded = Decoded(code, q);
    const testing::Attrs attrs = {{"T", attr::Type(DataType::kFloat)},
                                  {"Tindices", attr::Type(DataType::kInt32)},
                                  {"code", attr::String(code)}};
    const Tensor table = q.B();  // [90, 70]
    const auto gather = [&](const Tensor& indices) {
      return RunCpuKernel("_TenonCodedGather", attrs, {indices, table});
    };
    const auto rows = gather(testing::Int32s({89, 0, 64, 0}));
    ASSERT_TRUE(rows.ok()) << rows.status();
    ASSERT_EQ((*rows)[0].shape(), Shape({4, 70}));
    const int64_t lines[] = {89, 0, 64, 0};
    for (int64_t i = 0; i < 4 * 70; ++i)
      EXPECT_EQ(Values((*rows)[0])[i], decoded[i % 70 * q.n + lines[i / 70]]) << i;
    EXPECT_EQ((*gather(testing::Int32s({})))[0].shape(), Shape({0, 70}));
    for (const int32_t wrong : {-1, 90}) {
      const auto none = gather(testing::Int32s({1, wrong}));
      EXPECT_EQ(none.status().code(), absl::StatusCode::kInvalidArgument) << none.status();
    }
  }
}

// --- The loops of every instruction set that the processor has.

std::vector<std::pair<std::string, const cpu::CodedLoops*>> AllLoops() {
  std::vector<std::pair<std::string, const cpu::CodedLoops*>> all = {
      {"sse2", &cpu::sse2::kCodedLoops}};
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    all.emplace_back("avx2", &cpu::avx2::kCodedLoops);
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
    all.emplace_back("avx512", &cpu::avx512::kCodedLoops);
  return all;
}

TEST(CodedLoops, MultiplyAndExpand) {
  const Problem q = Random(4, 96, 50);
  const Tensor b = q.B();
  Workers workers(1);
  const Workers::Runner runner(workers);
  for (const int bits : {4, 8}) {
    const std::vector<double> weights = Decoded(absl::StrCat("int", bits), q);
    const auto panels = cpu::MakeCodedPanels(workers, {b.data(), q.k, q.n, false}, bits).value();
    for (const auto& [name, loops] : AllLoops()) {
      SCOPED_TRACE(absl::StrCat(name, " ", bits));
      for (const int columns : {8, 16, 32, 64}) {
        if (columns == 8 && name == "avx512") continue;
        std::vector<float> floats(static_cast<size_t>(q.k) * 64);
        (bits == 4 ? loops->expand4 : loops->expand8)(panels->memory.data, 3, columns,
                                                      floats.data());
        for (int64_t p = 0; p < q.k; ++p) {
          for (int64_t j = 0; j < 64; ++j) {
            const double right = j < q.n ? weights[p * q.n + j] : 0;
            ASSERT_EQ(floats[j / columns * q.k * columns + p * columns + j % columns], right);
          }
        }
      }
      for (int m = 1; m <= 4; ++m) {
        std::vector<float> sums(4 * 64);
        const cpu::CodedProduct product = {3, panels->memory.data, q.a.data(), q.k, m, sums.data()};
        (bits == 4 ? loops->multiply4 : loops->multiply8)(product);
        for (int64_t i = 0; i < m; ++i) {
          for (int64_t j = 0; j < 64; ++j) {
            double right = 0;
            for (int64_t p = 0; p < q.k && j < q.n; ++p)
              right += q.a[i * q.k + p] * weights[p * q.n + j];
            ASSERT_NEAR(sums[i * 64 + j], right, 1e-5) << i << ", " << j;
          }
        }
      }
    }
  }
}

TEST(CodedLoops, RowsBecomeBytes) {
  for (const auto& [name, loops] : AllLoops()) {
    for (const int64_t k : {0, 1, 3, 15, 16, 17, 100}) {
      for (const float offset : {0.0f, 5.0f, -3.0f}) {
        SCOPED_TRACE(absl::StrCat(name, " ", k, " ", offset));
        std::vector<float> x = Normals(k, 5);
        for (float& v : x) v += offset;
        if (k > 2) x[2] = 0;
        std::vector<uint8_t> bytes(static_cast<size_t>(k) + 1, 9);
        double scale = -1;
        int32_t zero = -1;
        loops->quantize_row(x.data(), k, bytes.data(), &scale, &zero);
        EXPECT_EQ(bytes[k], 9);
        for (int64_t i = 0; i < k; ++i)
          EXPECT_NEAR(scale * (bytes[i] - zero), x[i], scale * 0.5001) << i;
        if (k > 2) EXPECT_EQ(bytes[2], zero);
        for (const float wrong : {kNan, kInfinity, -kInfinity}) {
          if (k == 0) continue;
          x[k - 1] = wrong;
          loops->quantize_row(x.data(), k, bytes.data(), &scale, &zero);
          EXPECT_TRUE(std::isnan(scale));
          EXPECT_EQ(zero, 0);
        }
      }
    }
    // The difference of these is beyond the range of floats.
    const float x[] = {3e38f, -3e38f};
    uint8_t bytes[2];
    double scale;
    int32_t zero;
    loops->quantize_row(x, 2, bytes, &scale, &zero);
    EXPECT_NEAR(scale * (bytes[0] - zero) / x[0], 1, 0.01);
    EXPECT_NEAR(scale * (bytes[1] - zero) / x[1], 1, 0.01);
  }
}

TEST(CodedLoops, SumsAreScaledAndRoundedOnce) {
  const std::vector<int32_t> sums = {0, 1, -1, 2000000001, -2147483647, 16777217, 12345, -7, 77};
  const std::vector<float> bias = Normals(9, 7), floats = Normals(9, 6);
  const std::vector<double> scales(floats.begin(), floats.end());
  for (const auto& [name, loops] : AllLoops()) {
    SCOPED_TRACE(name);
    std::vector<float> y(9);
    loops->scale_sums(sums.data(), 9, 0.3f, scales.data(), nullptr, y.data());
    for (int i = 0; i < 9; ++i)
      EXPECT_EQ(y[i], static_cast<float>(sums[i] * (double{0.3f} * scales[i])));
    loops->scale_sums(sums.data(), 9, 0.3f, scales.data(), bias.data(), y.data());
    for (int i = 0; i < 9; ++i)
      EXPECT_FLOAT_EQ(y[i], static_cast<float>(sums[i] * (double{0.3f} * scales[i]) + bias[i]));
  }
}

}  // namespace coded_test
}  // namespace tenon
