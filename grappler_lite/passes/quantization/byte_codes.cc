#include "grappler_lite/passes/quantization/byte_codes.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

namespace tenon {
namespace {

constexpr int kMostNumbers = 256;  // that 8 bits tell apart

// The floats of a tensor, at any alignment, column by column.
class Columns {
 public:
  Columns(const Tensor& weights, WeightColumns columns)
      : data_(static_cast<const char*>(weights.data())),
        count_(columns.count),
        rows_(count_ == 0 ? 0 : weights.num_elements() / count_),
        step_(columns.first ? 1 : count_),
        column_step_(columns.first ? rows_ : 1),
        block_(static_cast<size_t>(kTogether * rows_)) {}

  int64_t rows() const { return rows_; }
  int64_t index(int64_t row, int64_t column) const { return row * step_ + column * column_step_; }
  // The values of a column, until the next call. Ask for the columns in their order: some are
  // copied at a time, since those of a row lie side by side.
  std::span<const float> At(int64_t column) {
    const int64_t first = column / kTogether * kTogether;
    if (column == first) Copy(first, std::min(count_, first + kTogether));
    return {block_.data() + (column - first) * rows_, static_cast<size_t>(rows_)};
  }

 private:
  static constexpr int64_t kTogether = 16;

  void Copy(int64_t first, int64_t end) {
    for (int64_t i = 0; i < rows_; ++i) {
      for (int64_t j = first; j < end; ++j) {
        std::memcpy(&block_[(j - first) * rows_ + i], data_ + index(i, j) * sizeof(float),
                    sizeof(float));
      }
    }
  }

  const char* data_;
  int64_t count_, rows_, step_, column_step_;
  std::vector<float> block_;
};

// Different floats, up to kMostNumbers of them, by their bits.
class FewFloats {
 public:
  // False for one more than there may be.
  bool Add(float x) {
    uint32_t bits;
    std::memcpy(&bits, &x, sizeof(bits));
    for (uint32_t slot = bits * 2654435761u >> 22;; slot = (slot + 1) % kSlots) {
      if (!taken_[slot]) {
        if (static_cast<int>(values_.size()) == kMostNumbers) return false;
        taken_[slot] = true;
        slots_[slot] = bits;
        values_.push_back(x);
        return true;
      }
      if (slots_[slot] == bits) return true;
    }
  }
  std::vector<float>& values() { return values_; }

 private:
  static constexpr uint32_t kSlots = 1024;  // 2^(32 - 22)
  std::array<uint32_t, kSlots> slots_;
  std::array<bool, kSlots> taken_ = {};
  std::vector<float> values_;
};

// Whether all values are near multiples of the step, and the multiples fit.
bool AreMultiples(const std::vector<float>& values, double step) {
  constexpr double kNear = 0.01;
  double least = 0, most = 0;
  for (const float value : values) {
    const double multiple = std::nearbyint(value / step);
    if (std::abs(value / step - multiple) > kNear) return false;
    least = std::min(least, multiple);
    most = std::max(most, multiple);
  }
  return most - least < kMostNumbers;
}

// The number of which all values are multiples; 1 for zeros alone, 0 if there is none.
double StepOf(std::vector<float> values) {
  values.push_back(0);
  std::sort(values.begin(), values.end());
  const double extent = double{values.back()} - values.front();
  double gap = extent;
  for (size_t i = 1; i < values.size(); ++i) {
    const double distance = double{values[i]} - values[i - 1];
    if (distance > 0) gap = std::min(gap, distance);
  }
  if (extent == 0) return 1;
  // Neighbours may be several steps apart.
  for (int parts = 1; extent * parts < kMostNumbers * gap; ++parts) {
    if (!AreMultiples(values, gap / parts)) continue;
    // The gap is that of two rounded numbers: all of them together tell the step better.
    double products = 0, squares = 0;
    for (const float value : values) {
      const double multiple = std::nearbyint(value * parts / gap);
      products += value * multiple;
      squares += multiple * multiple;
    }
    return products / squares;
  }
  return 0;
}

struct Made {
  ByteCodes codes;
  int8_t* bytes;
  float* scales;
  int32_t* zeros;
};

std::optional<Made> Allocate(const Tensor& weights, int64_t columns) {
  absl::StatusOr<Tensor> codes = Tensor::Allocate(DataType::kInt8, weights.shape());
  absl::StatusOr<Tensor> scales = Tensor::Allocate(DataType::kFloat, Shape({columns}));
  absl::StatusOr<Tensor> zeros = Tensor::Allocate(DataType::kInt32, Shape({columns}));
  if (!codes.ok() || !scales.ok() || !zeros.ok()) return std::nullopt;
  return Made{{*codes, *scales, *zeros},
              codes->flat<int8_t>(),
              scales->flat<float>(),
              zeros->flat<int32_t>()};
}

}  // namespace

std::optional<ByteCodes> ExactCodes(const Tensor& weights, WeightColumns columns) {
  Columns w(weights, columns);
  std::optional<Made> made = Allocate(weights, columns.count);
  if (!made) return std::nullopt;
  for (int64_t j = 0; j < columns.count; ++j) {
    FewFloats different;
    const std::span<const float> values = w.At(j);
    for (const float value : values) {
      if (!std::isfinite(value) || !different.Add(value)) return std::nullopt;
    }
    const double step = StepOf(different.values());
    if (!(step > 0)) return std::nullopt;
    double least = 0, most = 0;
    for (const float value : different.values()) {
      least = std::min(least, std::nearbyint(value / step));
      most = std::max(most, std::nearbyint(value / step));
    }
    // A zero that is not 0 costs a sum of each row, so that multiples that fit have none.
    const int32_t zero = least < -128 ? static_cast<int32_t>(-128 - least)
                         : most > 127 ? static_cast<int32_t>(127 - most)
                                      : 0;
    made->scales[j] = static_cast<float>(step);
    made->zeros[j] = zero;
    for (int64_t i = 0; i < w.rows(); ++i) {
      made->bytes[w.index(i, j)] =
          static_cast<int8_t>(static_cast<int32_t>(std::nearbyint(values[i] / step)) + zero);
    }
  }
  return std::move(made->codes);
}

std::optional<ByteCodes> NearestCodes(const Tensor& weights, WeightColumns columns) {
  constexpr double kMost = 127;
  Columns w(weights, columns);
  std::optional<Made> made = Allocate(weights, columns.count);
  if (!made) return std::nullopt;
  for (int64_t j = 0; j < columns.count; ++j) {
    double greatest = 0;
    const std::span<const float> values = w.At(j);
    for (const float value : values) {
      const double magnitude = std::abs(value);
      if (!std::isfinite(magnitude)) return std::nullopt;
      greatest = std::max(greatest, magnitude);
    }
    const double step = greatest > 0 ? greatest / kMost : 1;
    made->scales[j] = static_cast<float>(step);
    made->zeros[j] = 0;
    for (int64_t i = 0; i < w.rows(); ++i) {
      const double code = std::nearbyint(values[i] / step);
      made->bytes[w.index(i, j)] = static_cast<int8_t>(std::clamp(code, -kMost, kMost));
    }
  }
  return std::move(made->codes);
}

}  // namespace tenon
