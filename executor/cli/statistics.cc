#include "executor/cli/statistics.h"

#include <algorithm>
#include <cmath>

namespace tenon::cli {
namespace {

double Percentile(const std::vector<double>& sorted, double fraction) {
  const double position = fraction * static_cast<double>(sorted.size() - 1);
  const size_t below = static_cast<size_t>(position);
  const size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (sorted[above] - sorted[below]) * (position - static_cast<double>(below));
}

// The 97.5 % point of Student's distribution: a table for few degrees of freedom, Fisher's
// expansion beyond.
double StudentT(int64_t freedom) {
  constexpr double kTable[] = {12.706, 4.303, 3.182, 2.776, 2.571,
                               2.447,  2.365, 2.306, 2.262, 2.228};
  if (freedom <= 10) return kTable[freedom - 1];
  const double z = 1.959964, f = static_cast<double>(freedom);
  return z + (z * z * z + z) / (4 * f) +
         (5 * std::pow(z, 5) + 16 * z * z * z + 3 * z) / (96 * f * f);
}

}  // namespace

RunStatistics Summarize(std::vector<double> samples) {
  RunStatistics s;
  s.count = static_cast<int64_t>(samples.size());
  if (samples.empty()) return s;
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
  const double half =
      s.count > 1 ? StudentT(s.count - 1) * s.stddev / std::sqrt(static_cast<double>(s.count)) : 0;
  s.ci95_lo = s.mean - half;
  s.ci95_hi = s.mean + half;
  return s;
}

}  // namespace tenon::cli
