// Counters, gauges and samplers that a program keeps by name. Private to executor/api/eager/.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"

namespace tenon::eager {

// A text that is set and read as a whole. Thread-safe.
class TextCell {
 public:
  void Set(std::string text);
  std::string Get() const;

 private:
  mutable absl::Mutex mutex_;
  std::string text_ ABSL_GUARDED_BY(mutex_);
};

// Counts the values that were added, by bucket. Thread-safe.
class Histogram {
 public:
  // `limits`: the upper end of each bucket, ascending. A value that equals a limit counts in the
  // next bucket. One more bucket, the last, has no upper end.
  explicit Histogram(std::vector<double> limits);
  void Add(double value);
  // HistogramProto bytes.
  std::string Wire() const;

 private:
  const std::vector<double> limits_;
  mutable absl::Mutex mutex_;
  std::vector<double> counts_ ABSL_GUARDED_BY(mutex_);
  double min_ ABSL_GUARDED_BY(mutex_), max_ ABSL_GUARDED_BY(mutex_);
  double number_ ABSL_GUARDED_BY(mutex_) = 0, sum_ ABSL_GUARDED_BY(mutex_) = 0,
                 squares_ ABSL_GUARDED_BY(mutex_) = 0;
};

// `count` limits for a Histogram: scale, scale * growth, and so on. Empty unless `count` is
// above 0 and at most kMaxElements.
std::vector<double> ExponentialLimits(double scale, double growth, int count);

// The cells of a metric, by the values of its labels. Cells are objects of Handles. Thread-safe.
template <typename Cell>
class Metric {
 public:
  using MakeFn = std::function<Cell*()>;
  explicit Metric(MakeFn make = [] { return Cell::Pool::New(); }) : make_(std::move(make)) {}
  ~Metric() {
    for (const auto& [labels, cell] : cells_) {
      if (cell != nullptr) Cell::Pool::Delete(cell);
    }
  }
  Metric(const Metric&) = delete;
  Metric& operator=(const Metric&) = delete;
  // The cell for these values of the labels, made at the first call. Lives as long as the metric.
  Cell* Find(const std::vector<std::string>& labels) {
    absl::MutexLock lock(&mutex_);
    Cell*& cell = cells_[labels];
    if (cell == nullptr) cell = make_();
    return cell;
  }

 private:
  const MakeFn make_;
  absl::Mutex mutex_;
  // A cell for which there was no memory is null.
  std::map<std::vector<std::string>, Cell*> cells_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace tenon::eager
