#include "executor/cli/statistics.h"

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

constexpr size_t kBlocks = 500;
constexpr int kResamples = 2000;

// At most kBlocks means of neighbouring samples: what disturbs one run disturbs the next too.
std::vector<double> BlockMeans(const std::vector<double>& samples) {
  if (samples.size() <= kBlocks) return samples;
  std::vector<double> means(kBlocks);
  for (size_t b = 0; b < kBlocks; ++b) {
    const size_t begin = b * samples.size() / kBlocks, end = (b + 1) * samples.size() / kBlocks;
    means[b] = std::accumulate(samples.begin() + static_cast<ptrdiff_t>(begin),
                               samples.begin() + static_cast<ptrdiff_t>(end), 0.0) /
               static_cast<double>(end - begin);
  }
  return means;
}

// Means of random draws from `blocks`, sorted; the same for the same blocks.
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

}  // namespace

RunStatistics Summarize(std::vector<double> samples) {
  RunStatistics s;
  s.count = static_cast<int64_t>(samples.size());
  if (samples.empty()) return s;
  const std::vector<double> means = ResampledMeans(BlockMeans(samples));
  std::sort(samples.begin(), samples.end());
  s.min = samples.front();
  s.max = samples.back();
  s.p50 = Percentile(samples, 0.5);
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

}  // namespace tenon::cli
