// Statistics of run times.
#pragma once

#include <cstdint>
#include <vector>

namespace tenon::cli {

// All numbers but `count` are in the unit of the samples; all are 0 without samples.
struct RunStatistics {
  int64_t count = 0;  // of samples
  double min = 0, p50 = 0, p90 = 0, p99 = 0, max = 0, mean = 0;
  double stddev = 0;                // of the population, estimated from the samples; 0 for one
  double ci95_lo = 0, ci95_hi = 0;  // 95 % interval of the mean, by bootstrap; within min and max
                                    // but for rounding
  double p50_lo = 0, p50_hi = 0;    // 95 % interval of the median
};

// Samples must be in the order in which they were taken: of more than 500 samples the intervals are
// those of 500 blocks of samples that were taken one after the other. The interval of the median is
// EstimateMedian's. Percentiles interpolate between neighbours in size, as numpy.percentile does.
// The same samples give the same result.
RunStatistics Summarize(std::vector<double> samples);

// `samples` must not be empty.
double Median(std::vector<double> samples);

// The mean of the samples without the least and the greatest quarter, each rounded down: outliers
// do not count, steps of the clock average out. `samples` must not be empty.
double MiddleMean(std::vector<double> samples);

// The median of independent samples, with its 95 % interval by ranks. The interval holds for every
// distribution of the samples. From 9 samples on a single outlier cannot move it far; of fewer the
// ends are the smallest and the largest. Fewer than kFewestForInterval samples allow no interval of
// 95 %. There must be a sample.
struct MedianEstimate {
  double median = 0, ci95_lo = 0, ci95_hi = 0;
};
inline constexpr int64_t kFewestForInterval = 6;
MedianEstimate EstimateMedian(std::vector<double> samples);

}  // namespace tenon::cli
