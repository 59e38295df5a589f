// The functions of eager/c_api_experimental.h on counters, gauges and samplers.
#include <initializer_list>

#include "executor/api/base/arguments.h"
#include "executor/api/eager/c_api/monitoring.h"
#include "graph/c_api/c_api_internal.h"
#include "graph/c_api/without_memory.h"
#include "tensorflow/c/eager/c_api_experimental.h"

struct TFE_MonitoringCounterCell {
  using Pool = tenon::Handles<TFE_MonitoringCounterCell>;
  std::atomic<int64_t> value{0};
};
struct TFE_MonitoringIntGaugeCell {
  using Pool = tenon::Handles<TFE_MonitoringIntGaugeCell>;
  std::atomic<int64_t> value{0};
};
struct TFE_MonitoringBoolGaugeCell {
  using Pool = tenon::Handles<TFE_MonitoringBoolGaugeCell>;
  std::atomic<bool> value{false};
};
struct TFE_MonitoringStringGaugeCell {
  using Pool = tenon::Handles<TFE_MonitoringStringGaugeCell>;
  tenon::eager::TextCell text;
};
struct TFE_MonitoringSamplerCell {
  using Pool = tenon::Handles<TFE_MonitoringSamplerCell>;
  explicit TFE_MonitoringSamplerCell(std::vector<double> limits) : values(std::move(limits)) {}
  tenon::eager::Histogram values;
};
struct TFE_MonitoringBuckets {
  using Pool = tenon::Handles<TFE_MonitoringBuckets>;
  std::vector<double> limits;
};

namespace tenon::eager {
namespace {

// The cell for these labels; null, as each argument may be, for a null one.
template <typename Kind>
auto CellOf(Kind* metric, std::initializer_list<const char*> labels,
            const char* function = __builtin_FUNCTION()) -> decltype(metric->Find({})) {
  if (!IsThere(metric, function)) return nullptr;
  std::vector<std::string> texts;
  for (const char* const label : labels) {
    if (label == nullptr) return nullptr;
    texts.emplace_back(label);
  }
  return metric->Find(texts);
}

bool IsNamed(const char* name, TF_Status* status) {
  StatusToC(
      name == nullptr ? absl::InvalidArgumentError("a metric needs a name") : absl::OkStatus(),
      status);
  return name != nullptr;
}

// A sampler's cells with the limits of `buckets`; null limits are none.
Metric<TFE_MonitoringSamplerCell>::MakeFn WithLimits(const TFE_MonitoringBuckets* buckets) {
  std::vector<double> limits;
  if (buckets != nullptr) limits = buckets->limits;
  return [limits] { return TFE_MonitoringSamplerCell::Pool::New(limits); };
}

}  // namespace
}  // namespace tenon::eager

using tenon::IsThere;
using tenon::api::NoneDeleted;
using tenon::eager::CellOf;
using tenon::eager::IsNamed;

// The functions of one metric: METRIC(kind, number of labels, parameters of New and of GetCell for
// the labels, arguments of GetCell).
#define METRIC(kind, number, parameters, arguments)                                          \
  struct TFE_Monitoring##kind##number : tenon::eager::Metric<TFE_Monitoring##kind##Cell> {   \
    using Pool = tenon::Handles<TFE_Monitoring##kind##number>;                               \
  };                                                                                         \
  extern "C" TFE_Monitoring##kind##number* TFE_MonitoringNew##kind##number(                  \
      const char* name, TF_Status* status, const char* /*description*/ parameters) try {     \
    return IsNamed(name, status) ? TFE_Monitoring##kind##number::Pool::New() : nullptr;      \
  } catch (...) {                                                                            \
    return tenon::WithoutMemory(status);                                                     \
  }                                                                                          \
  extern "C" void TFE_MonitoringDelete##kind##number(TFE_Monitoring##kind##number* metric) { \
    tenon::DeleteHandle(metric);                                                             \
  }                                                                                          \
  extern "C" TFE_Monitoring##kind##Cell* TFE_MonitoringGetCell##kind##number(                \
      TFE_Monitoring##kind##number* metric parameters) try {                                 \
    return CellOf(metric, arguments);                                                        \
  } catch (...) {                                                                            \
    return tenon::WithoutMemory();                                                           \
  }
#define LABELS(...) , __VA_ARGS__
#define VALUES(...) \
  { __VA_ARGS__ }
#define LABELS1 LABELS([[maybe_unused]] const char* label1)
#define LABELS2 LABELS1 LABELS([[maybe_unused]] const char* label2)
#define LABELS3 LABELS2 LABELS([[maybe_unused]] const char* label3)
#define LABELS4 LABELS3 LABELS([[maybe_unused]] const char* label4)

METRIC(Counter, 0, , {})
METRIC(Counter, 1, LABELS1, VALUES(label1))
METRIC(Counter, 2, LABELS2, VALUES(label1, label2))
METRIC(IntGauge, 0, , {})
METRIC(IntGauge, 1, LABELS1, VALUES(label1))
METRIC(IntGauge, 2, LABELS2, VALUES(label1, label2))
METRIC(BoolGauge, 0, , {})
METRIC(BoolGauge, 1, LABELS1, VALUES(label1))
METRIC(BoolGauge, 2, LABELS2, VALUES(label1, label2))
METRIC(StringGauge, 0, , {})
METRIC(StringGauge, 1, LABELS1, VALUES(label1))
METRIC(StringGauge, 2, LABELS2, VALUES(label1, label2))
METRIC(StringGauge, 3, LABELS3, VALUES(label1, label2, label3))
METRIC(StringGauge, 4, LABELS4, VALUES(label1, label2, label3, label4))

#define SAMPLER(number, parameters, arguments)                                                  \
  struct TFE_MonitoringSampler##number : tenon::eager::Metric<TFE_MonitoringSamplerCell> {      \
    using Pool = tenon::Handles<TFE_MonitoringSampler##number>;                                 \
    using Metric::Metric;                                                                       \
  };                                                                                            \
  extern "C" TFE_MonitoringSampler##number* TFE_MonitoringNewSampler##number(                   \
      const char* name, TFE_MonitoringBuckets* buckets, TF_Status* status,                      \
      const char* /*description*/ parameters) try {                                             \
    if (!IsNamed(name, status) || !NoneDeleted({{"buckets", buckets}}, status)) return nullptr; \
    return TFE_MonitoringSampler##number::Pool::New(tenon::eager::WithLimits(buckets));         \
  } catch (...) {                                                                               \
    return tenon::WithoutMemory(status);                                                        \
  }                                                                                             \
  extern "C" void TFE_MonitoringDeleteSampler##number(TFE_MonitoringSampler##number* metric) {  \
    tenon::DeleteHandle(metric);                                                                \
  }                                                                                             \
  extern "C" TFE_MonitoringSamplerCell* TFE_MonitoringGetCellSampler##number(                   \
      TFE_MonitoringSampler##number* metric parameters) try {                                   \
    return CellOf(metric, arguments);                                                           \
  } catch (...) {                                                                               \
    return tenon::WithoutMemory();                                                              \
  }

SAMPLER(0, , {})
SAMPLER(1, LABELS1, VALUES(label1))
SAMPLER(2, LABELS2, VALUES(label1, label2))

extern "C" {

void TFE_MonitoringCounterCellIncrementBy(TFE_MonitoringCounterCell* cell, int64_t value) {
  if (IsThere(cell) && value > 0) cell->value.fetch_add(value);
}
int64_t TFE_MonitoringCounterCellValue(TFE_MonitoringCounterCell* cell) {
  return IsThere(cell) ? cell->value.load() : 0;
}

void TFE_MonitoringIntGaugeCellSet(TFE_MonitoringIntGaugeCell* cell, int64_t value) {
  if (IsThere(cell)) cell->value.store(value);
}
int64_t TFE_MonitoringIntGaugeCellValue(TFE_MonitoringIntGaugeCell* cell) {
  return IsThere(cell) ? cell->value.load() : 0;
}

void TFE_MonitoringBoolGaugeCellSet(TFE_MonitoringBoolGaugeCell* cell, bool value) {
  if (IsThere(cell)) cell->value.store(value);
}
bool TFE_MonitoringBoolGaugeCellValue(TFE_MonitoringBoolGaugeCell* cell) {
  return IsThere(cell) && cell->value.load();
}

void TFE_MonitoringStringGaugeCellSet(TFE_MonitoringStringGaugeCell* cell, const char* value) try {
  if (IsThere(cell) && value != nullptr) cell->text.Set(value);
} catch (...) {
  tenon::WithoutMemory();
}
void TFE_MonitoringStringGaugeCellValue(TFE_MonitoringStringGaugeCell* cell, TF_Buffer* buf) try {
  if (IsThere(cell) && IsThere(buf)) tenon::FillBuffer(cell->text.Get(), buf).IgnoreError();
} catch (...) {
  tenon::WithoutMemory();
}

void TFE_MonitoringSamplerCellAdd(TFE_MonitoringSamplerCell* cell, double value) try {
  if (IsThere(cell)) cell->values.Add(value);
} catch (...) {
  tenon::WithoutMemory();
}
void TFE_MonitoringSamplerCellValue(TFE_MonitoringSamplerCell* cell, TF_Buffer* buf) try {
  if (IsThere(cell) && IsThere(buf)) tenon::FillBuffer(cell->values.Wire(), buf).IgnoreError();
} catch (...) {
  tenon::WithoutMemory();
}

TFE_MonitoringBuckets* TFE_MonitoringNewExponentialBuckets(double scale, double growth_factor,
                                                           int bucket_count) try {
  return TFE_MonitoringBuckets::Pool::New(
      tenon::eager::ExponentialLimits(scale, growth_factor, bucket_count));
} catch (...) {
  return tenon::WithoutMemory();
}
void TFE_MonitoringDeleteBuckets(TFE_MonitoringBuckets* buckets) { tenon::DeleteHandle(buckets); }

}  // extern "C"
