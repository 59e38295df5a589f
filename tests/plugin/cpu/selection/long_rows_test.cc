// Rows that are longer than the blocks in which they are read: TopKV2, ArgMax, ArgMin, Unique,
// SegmentSum, and MaxPool of integers, beside plain loops.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <numeric>
#include <string>
#include <type_traits>
#include <vector>

#include "absl/strings/str_cat.h"
#include "graph/op_defs/attr_value.h"
#include "tests/plugin/cpu/cpu_kernel_util.h"

namespace tenon::testing {
namespace long_rows_test {

template <typename T>
constexpr DataType kTypeOf = std::is_same_v<T, float>     ? DataType::kFloat
                             : std::is_same_v<T, double>  ? DataType::kDouble
                             : std::is_same_v<T, int8_t>  ? DataType::kInt8
                             : std::is_same_v<T, int32_t> ? DataType::kInt32
                                                          : DataType::kInt64;

const std::string kInt32Type = attr::Type(DataType::kInt32);

template <typename T>
std::vector<T> RandomValues(int64_t count, int range, uint32_t seed) {
  std::vector<T> values(static_cast<size_t>(count));
  for (T& value : values) {
    seed = seed * 1664525u + 1013904223u;
    value = static_cast<T>(static_cast<int>(seed >> 8) % range - range / 2);
  }
  return values;
}

template <typename T>
Tensor Made(const std::vector<T>& values, const Shape& shape) {
  return Tensor::Of<T>(kTypeOf<T>, values, shape);
}
Tensor Scalar(int32_t x) { return Made<int32_t>({x}, Shape()); }

template <typename T>
void CheckTopK(std::vector<T> values, int32_t k) {
  SCOPED_TRACE(absl::StrCat("k ", k, " of ", values.size()));
  const auto n = static_cast<int64_t>(values.size());
  std::vector<int32_t> order(values.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int32_t a, int32_t b) {
    if (std::isnan(static_cast<double>(values[a])))
      return !std::isnan(static_cast<double>(values[b]));
    return values[a] > values[b];
  });
  const std::vector<Tensor> outputs = RunSteadily("TopKV2",
                                                  {{"T", attr::Type(kTypeOf<T>)},
                                                   {"Tk", kInt32Type},
                                                   {"index_type", kInt32Type},
                                                   {"sorted", attr::Bool(true)}},
                                                  {Made(values, Shape({1, n})), Scalar(k)});
  for (int32_t i = 0; i < k; ++i) ASSERT_EQ(outputs[1].flat<int32_t>()[i], order[i]) << i;
}

TEST(LongRows, TopKHasTheFirstOfEquals) {
  for (int32_t k : {1, 2, 10, 100, 467, 468, 999, 1000}) {
    CheckTopK(RandomValues<int32_t>(1000, 50, 1), k);
    CheckTopK(RandomValues<float>(1000, 1 << 20, 2), k);
    std::vector<float> rising(1000);
    std::iota(rising.begin(), rising.end(), 0.0f);
    CheckTopK(rising, k);
    if (k == 1) continue;  // which passes over NaN
    for (int i : {3, 64, 500, 999}) rising[i] = std::numeric_limits<float>::quiet_NaN();
    CheckTopK(rising, k);
  }
}

template <typename T>
void CheckArg(const std::vector<T>& values) {
  for (const bool max : {true, false}) {
    int64_t best = -1;
    for (int64_t i = 0; i < static_cast<int64_t>(values.size()); ++i) {
      if (std::isnan(static_cast<double>(values[i]))) continue;
      if (best < 0 || (max ? values[i] > values[best] : values[i] < values[best])) best = i;
    }
    const std::vector<Tensor> outputs =
        RunSteadily(max ? "ArgMax" : "ArgMin",
                    {{"T", attr::Type(kTypeOf<T>)},
                     {"Tidx", kInt32Type},
                     {"output_type", attr::Type(DataType::kInt64)}},
                    {Made(values, Shape({static_cast<int64_t>(values.size())})), Scalar(0)});
    EXPECT_EQ(outputs[0].flat<int64_t>()[0], std::max<int64_t>(0, best)) << values.size() << max;
  }
}

TEST(LongRows, ArgMaxHasTheFirstOfEquals) {
  constexpr float kInf = std::numeric_limits<float>::infinity();
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  for (int64_t n : {1, 63, 64, 65, 300, 1000}) {
    CheckArg(RandomValues<float>(n, 1 << 20, 1));
    CheckArg(RandomValues<double>(n, 20, 2));
    CheckArg(RandomValues<int8_t>(n, 250, 3));
    CheckArg(RandomValues<int32_t>(n, 100, 4));
    CheckArg(RandomValues<int64_t>(n, 100, 5));
    std::vector<float> nan(static_cast<size_t>(n), kNan);
    CheckArg(nan);
    nan.back() = -kInf;
    CheckArg(nan);
    nan[n / 2] = kInf;
    CheckArg(nan);
  }
}

template <typename T>
void CheckUnique() {
  const std::vector<T> values = RandomValues<T>(1000, 300, 7);
  std::vector<T> found;
  std::map<T, int32_t> at;
  std::vector<int32_t> counts;
  for (const T value : values) {
    if (at.try_emplace(value, static_cast<int32_t>(found.size())).second) {
      found.push_back(value);
      counts.push_back(0);
    }
    ++counts[at[value]];
  }
  const std::vector<Tensor> outputs =
      RunSteadily("UniqueWithCounts", {{"T", attr::Type(kTypeOf<T>)}, {"out_idx", kInt32Type}},
                  {Made(values, Shape({1000}))});
  ASSERT_EQ(outputs[0].num_elements(), static_cast<int64_t>(found.size()));
  for (size_t i = 0; i < found.size(); ++i) {
    EXPECT_EQ(outputs[0].flat<T>()[i], found[i]);
    EXPECT_EQ(outputs[2].flat<int32_t>()[i], counts[i]);
  }
  for (size_t i = 0; i < values.size(); ++i)
    EXPECT_EQ(outputs[1].flat<int32_t>()[i], at[values[i]]);
}

TEST(LongRows, UniqueCountsNumbers) {
  CheckUnique<int32_t>();
  CheckUnique<int64_t>();
  CheckUnique<float>();
}

template <typename T>
void CheckSegments(const std::string& op, int64_t n) {
  SCOPED_TRACE(absl::StrCat(op, " ", DataTypeName(kTypeOf<T>), " ", n));
  const std::vector<int32_t> ids = {0, 0, 0, 2, 3, 3, 3, 3, 3, 6};
  const auto rows = static_cast<int64_t>(ids.size());
  const std::vector<T> data = RandomValues<T>(rows * n, 100, 9);
  std::vector<T> sums(static_cast<size_t>(7 * n));
  std::vector<int> counts(7);
  for (int64_t r = 0; r < rows; ++r) {
    ++counts[ids[r]];
    for (int64_t j = 0; j < n; ++j) sums[ids[r] * n + j] += data[r * n + j];
  }
  const std::vector<Tensor> outputs =
      RunSteadily(op, {{"T", attr::Type(kTypeOf<T>)}, {"Tindices", kInt32Type}},
                  {Made(data, Shape({rows, n})), Made(ids, Shape({rows}))});
  ASSERT_EQ(outputs[0].num_elements(), 7 * n);
  for (int64_t i = 0; i < 7 * n; ++i) {
    const T divisor = op == "SegmentMean" ? static_cast<T>(std::max(1, counts[i / n])) : T(1);
    ASSERT_EQ(outputs[0].flat<T>()[i], sums[i] / divisor) << i;
  }
}

TEST(LongRows, SegmentsAreSummed) {
  for (int64_t n : {1, 7, 8, 16, 37}) {
    for (const char* op : {"SegmentSum", "SegmentMean"}) {
      CheckSegments<float>(op, n);
      CheckSegments<double>(op, n);
      CheckSegments<int32_t>(op, n);
      CheckSegments<int64_t>(op, n);
    }
  }
}

template <typename T>
void CheckPool() {
  constexpr int64_t kIn = 9, kOut = 5, kChannels = 37;
  const std::vector<T> image = RandomValues<T>(kIn * kIn * kChannels, 200, 11);
  const std::vector<Tensor> outputs = RunSteadily("MaxPool",
                                                  {{"T", attr::Type(kTypeOf<T>)},
                                                   {"ksize", attr::IntList({1, 3, 3, 1})},
                                                   {"strides", attr::IntList({1, 2, 2, 1})},
                                                   {"padding", attr::String("SAME")},
                                                   {"data_format", attr::String("NHWC")},
                                                   {"explicit_paddings", attr::IntList({})}},
                                                  {Made(image, Shape({1, kIn, kIn, kChannels}))});
  for (int64_t i = 0; i < kOut * kOut * kChannels; ++i) {
    const int64_t row = i / kChannels / kOut * 2 - 1, column = i / kChannels % kOut * 2 - 1;
    T most = std::numeric_limits<T>::lowest();
    for (int64_t y = std::max<int64_t>(0, row); y < std::min(kIn, row + 3); ++y) {
      for (int64_t x = std::max<int64_t>(0, column); x < std::min(kIn, column + 3); ++x)
        most = std::max(most, image[(y * kIn + x) * kChannels + i % kChannels]);
    }
    ASSERT_EQ(outputs[0].flat<T>()[i], most) << i;
  }
}

TEST(LongRows, PoolsOfIntegers) {
  CheckPool<int8_t>();
  CheckPool<int32_t>();
  CheckPool<int64_t>();
}

}  // namespace long_rows_test
}  // namespace tenon::testing
