// Intervals for the mean come from a bootstrap, intervals for the median from the binomial
// distribution of ranks.

#include "executor/values/statistics.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

namespace tenon::cli {
namespace {

double Percentile(const std::vector<double>& sorted, double fraction) {
  const double position = fraction * static_cast<double>(sorted.size() - 1);
  const size_t below = static_cast<size_t>(position);
  const size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (sorted[above] - sorted[below]) * (position - static_cast<double>(below));
}

constexpr size_t kBlocks = 500;   // so that all resamples take a million draws
constexpr int kResamples = 2000;  // 50 means lie beyond each end of a 95 % interval

double Mean(const std::vector<double>& samples) {
  return std::accumulate(samples.begin(), samples.end(), 0.0) / static_cast<double>(samples.size());
}

// One number for each of at most kBlocks blocks of neighbouring samples: what disturbs one run
// disturbs the next too.
template <typename Number>
std::vector<double> OfBlocks(const std::vector<double>& samples, Number number) {
  if (samples.size() <= kBlocks) return samples;
  std::vector<double> numbers;
  for (size_t b = 0; b < kBlocks; ++b) {
    const auto begin = samples.begin() + static_cast<ptrdiff_t>(b * samples.size() / kBlocks);
    const auto end = samples.begin() + static_cast<ptrdiff_t>((b + 1) * samples.size() / kBlocks);
    numbers.push_back(number(std::vector<double>(begin, end)));
  }
  return numbers;
}

// Means of random draws from `blocks`, sorted. The generator has a fixed seed: the same blocks give
// the same means. The bias of the remainder is below 1e-6 for at most kBlocks of 2^31 values.
std::vector<double> ResampledMeans(const std::vector<double>& blocks) {
  std::minstd_rand random;
  std::vector<double> means(kResamples, 0.0);
  for (double& mean : means) {
    for (size_t i = 0; i < blocks.size(); ++i) mean += blocks[random() % blocks.size()];
    mean /= static_cast<double>(blocks.size());
  }
  std::sort(means.begin(), means.end());
  return means;
}

// The greatest k for which the median lies between the k-th least and the k-th greatest of n
// samples with a chance of 95 % or more; at least 1. The number of samples below the median is that
// of heads among n coins.
int64_t MedianRank(int64_t n) {
  const auto log_chance = [n](int64_t heads) {
    return std::lgamma(n + 1) - std::lgamma(heads + 1) - std::lgamma(n - heads + 1) -
           static_cast<double>(n) * std::log(2.0);
  };
  int64_t k = 0;
  for (double below = 0; k < n; ++k) {
    below += std::exp(log_chance(k));
    if (below > 0.025) break;
  }
  return std::max<int64_t>(k, 1);
}

}  // namespace

double Median(std::vector<double> samples) {
  std::sort(samples.begin(), samples.end());
  return Percentile(samples, 0.5);
}

RunStatistics Summarize(std::vector<double> samples) {
  RunStatistics s;
  s.count = static_cast<int64_t>(samples.size());
  if (samples.empty()) return s;
  const std::vector<double> means = ResampledMeans(OfBlocks(samples, Mean));
  const MedianEstimate median = EstimateMedian(OfBlocks(samples, Median));
  std::sort(samples.begin(), samples.end());
  s.min = samples.front();
  s.max = samples.back();
  s.p50 = Percentile(samples, 0.5);
  s.p50_lo = std::min(median.ci95_lo, s.p50);
  s.p50_hi = std::max(median.ci95_hi, s.p50);
  s.p90 = Percentile(samples, 0.9);
  s.p99 = Percentile(samples, 0.99);
  for (const double x : samples) s.mean += x / static_cast<double>(s.count);
  double squares = 0;
  for (const double x : samples) squares += (x - s.mean) * (x - s.mean);
  s.stddev = s.count > 1 ? std::sqrt(squares / static_cast<double>(s.count - 1)) : 0;
  s.ci95_lo = std::min(Percentile(means, 0.025), s.mean);
  s.ci95_hi = std::max(Percentile(means, 0.975), s.mean);
  return s;
}

// Means average out the steps of the clock, medians do not; medians ignore outliers, means do not.
double MiddleMean(std::vector<double> samples) {
  std::sort(samples.begin(), samples.end());
  const auto quarter = static_cast<ptrdiff_t>(samples.size() / 4);
  return std::accumulate(samples.begin() + quarter, samples.end() - quarter, 0.0) /
         static_cast<double>(std::ssize(samples) - 2 * quarter);
}

MedianEstimate EstimateMedian(std::vector<double> samples) {
  std::sort(samples.begin(), samples.end());
  const int64_t k = MedianRank(static_cast<int64_t>(samples.size()));
  return {Percentile(samples, 0.5), samples[k - 1], samples[samples.size() - k]};
}

}  // namespace tenon::cli
