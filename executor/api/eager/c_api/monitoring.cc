#include "executor/api/eager/c_api/monitoring.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "graph/c_api/counts.h"
#include "graph/wire/wire.h"

namespace tenon::eager {
void TextCell::Set(std::string text) {
  absl::MutexLock lock(&mutex_);
  text_ = std::move(text);
}

std::string TextCell::Get() const {
  absl::MutexLock lock(&mutex_);
  return text_;
}

std::vector<double> ExponentialLimits(double scale, double growth, int count) {
  std::vector<double> limits;
  if (!api::IsCount(count)) return limits;
  for (double limit = scale; count > 0; --count, limit *= growth) limits.push_back(limit);
  return limits;
}

// TensorFlow's histograms begin with these.
Histogram::Histogram(std::vector<double> limits)
    : limits_(std::move(limits)),
      counts_(limits_.size() + 1, 0),
      min_(std::numeric_limits<double>::max()),
      max_(-std::numeric_limits<double>::max()) {}

void Histogram::Add(double value) {
  absl::MutexLock lock(&mutex_);
  const auto bucket = std::upper_bound(limits_.begin(), limits_.end(), value) - limits_.begin();
  counts_[bucket] += 1;
  min_ = std::min(min_, value);
  max_ = std::max(max_, value);
  number_ += 1;
  sum_ += value;
  squares_ += value * value;
}

std::string Histogram::Wire() const {
  constexpr uint32_t kMin = 1, kMax = 2, kNum = 3, kSum = 4, kSumSquares = 5, kLimit = 6,
                     kCount = 7;
  absl::MutexLock lock(&mutex_);
  std::string wire;
  WireWriter writer(&wire);
  const auto put = [&writer](uint32_t field, double value) {
    uint64_t bits;
    std::memcpy(&bits, &value, sizeof(bits));
    if (bits != 0) writer.Fixed64(field, bits);
  };
  put(kMin, min_);
  put(kMax, max_);
  put(kNum, number_);
  put(kSum, sum_);
  put(kSumSquares, squares_);
  std::vector<double> limits = limits_;
  limits.push_back(std::numeric_limits<double>::max());
  const auto packed = [](const std::vector<double>& values) {
    return std::string_view(reinterpret_cast<const char*>(values.data()),
                            values.size() * sizeof(double));
  };
  writer.Bytes(kLimit, packed(limits));
  writer.Bytes(kCount, packed(counts_));
  return wire;
}

}  // namespace tenon::eager
