// Statistics of run times.
#pragma once

#include <cstdint>
#include <vector>

namespace tenon::cli {

struct RunStatistics {
  int64_t count = 0;
  double min = 0, p50 = 0, p90 = 0, p99 = 0, max = 0, mean = 0, stddev = 0;
  double ci95_lo = 0, ci95_hi = 0;  // of the mean, by bootstrap: never outside of min and max
};

// In the unit of the samples, which come in the order in which they were taken. Percentiles
// interpolate between neighbours, as numpy.percentile does.
RunStatistics Summarize(std::vector<double> samples);

}  // namespace tenon::cli
