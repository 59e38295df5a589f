// HistogramSummary: how values spread over buckets that grow by a tenth each, on both sides of 0.
#include <algorithm>
#include <bit>
#include <cfloat>
#include <cmath>
#include <vector>

#include "absl/strings/str_cat.h"
#include "plugin/cpu/base/element.h"
#include "plugin/cpu/base/kernel_util.h"
#include "plugin/cpu/base/string_element.h"
#include "plugin/cpu/summary/summary_wire.h"
#include "plugin/kernels/kernel.h"
#include "plugin/kernels/kernel_spec.h"

namespace tenon::cpu {
namespace {

// The upper ends of the buckets.
const std::vector<double>& Limits() {
  static const auto* const limits = [] {
    // TensorFlow's buckets: readers of summaries compare histograms of several steps.
    constexpr double kFirst = 1e-12, kBeyond = 1e20, kGrowth = 1.1;
    std::vector<double> above;
    for (double limit = kFirst; limit < kBeyond; limit *= kGrowth) {  // NOLINT: a float as they do
      above.push_back(limit);
    }
    above.push_back(DBL_MAX);
    auto* all = new std::vector<double>;
    for (size_t i = above.size(); i-- > 0;) all->push_back(-above[i]);
    all->push_back(0);
    all->insert(all->end(), above.begin(), above.end());
    return all;
  }();
  return *limits;
}

struct Histogram {
  double least = DBL_MAX, most = -DBL_MAX, count = 0, sum = 0, squares = 0;
  std::vector<double> buckets = std::vector<double>(Limits().size(), 0);

  void Add(double x) {
    const std::vector<double>& limits = Limits();
    const auto bucket = std::upper_bound(limits.begin(), limits.end() - 1, x) - limits.begin();
    ++buckets[bucket];
    least = std::min(least, x);
    most = std::max(most, x);
    ++count;
    sum += x;
    squares += x * x;
  }
};

void AppendDouble(std::string* out, double x) {
  out->append(reinterpret_cast<const char*>(&x), sizeof(x));
}

// Runs of empty buckets become one.
std::string HistogramToWire(const Histogram& h) {
  std::string limits, counts, wire;
  for (size_t i = 0; i < h.buckets.size(); ++i) {
    const bool empty = h.buckets[i] == 0;
    while (empty && i + 1 < h.buckets.size() && h.buckets[i + 1] == 0) ++i;
    AppendDouble(&limits, Limits()[i]);
    AppendDouble(&counts, h.buckets[i]);
  }
  WireWriter fields(&wire);
  const double numbers[] = {h.least, h.most, h.count, h.sum, h.squares};
  uint32_t number = 1;  // min, max, num, sum, sum_squares
  for (double x : numbers) {
    const auto bits = std::bit_cast<uint64_t>(x);
    if (bits != 0) fields.Fixed64(number, bits);
    ++number;
  }
  constexpr uint32_t kBucketLimit = 6, kBucket = 7;
  fields.Bytes(kBucketLimit, limits);
  fields.Bytes(kBucket, counts);
  return wire;
}

struct HistogramState {
  DataType type;
  int64_t n;
};

absl::Status RunHistogram(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const HistogramState*>(state);
  Histogram histogram;
  const std::string_view tag = StringAt(args.in[0], 0);
  for (int64_t i = 0; i < s.n; ++i) {
    double x = 0;
    VisitReal(s.type, [&](auto element, auto) { x = element.template As<double>(args.in[1], i); });
    if (!std::isfinite(x)) {
      return absl::InvalidArgumentError(absl::StrCat(std::isnan(x) ? "NaN" : "an infinity",
                                                     " in the histogram '", tag, "', value ", i));
    }
    histogram.Add(x);
  }
  std::string summary;
  AddSummaryValue(&summary, [&](WireWriter& fields) {
    WriteText(fields, kTag, tag);
    fields.Bytes(kHistogram, HistogramToWire(histogram));
  });
  PutString(args.out[0], 0, summary);
  return absl::OkStatus();
}

absl::Status PrepareHistogram(Prepare& p) {
  if (p.input_shape(0).rank() != 0) return p.Invalid("'tag' must be a scalar");
  p.set_output_shape(0, Shape());
  p.set_run(&RunHistogram, std::make_shared<HistogramState>(
                               HistogramState{p.input_type(1), p.input_shape(1).num_elements()}));
  return absl::OkStatus();
}

}  // namespace

absl::Span<const CpuKernelSpec> HistogramSummaryKernels() {
  static const CpuKernelSpec specs[] = {
      {"HistogramSummary", {{"T", kRealTypes}}, PrepareHistogram},
  };
  return specs;
}

}  // namespace tenon::cpu
