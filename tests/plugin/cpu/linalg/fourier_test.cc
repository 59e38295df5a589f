// Transforms of every kind of length against the sum that defines them.
#include "plugin/cpu/linalg/fourier/fourier.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

namespace tenon::cpu {
namespace {

using Complex = Fourier::Complex;

std::vector<Complex> Wave(int64_t n) {
  std::vector<Complex> x(n);
  for (int64_t j = 0; j < n; ++j) x[j] = {std::sin(1.7 * j + 0.3), std::cos(0.9 * j * j)};
  return x;
}

std::vector<Complex> Transform(std::vector<Complex> x, bool inverse) {
  const auto plan = Fourier::Make(static_cast<int64_t>(x.size()));
  EXPECT_TRUE(plan.ok()) << plan.status();
  if (!plan.ok()) return x;
  std::vector<Complex> scratch((*plan)->scratch_size());
  (*plan)->Transform(x.data(), inverse, scratch.data());
  return x;
}

Complex Sum(const std::vector<Complex>& x, int64_t k, bool inverse) {
  const auto n = static_cast<int64_t>(x.size());
  Complex sum = 0;
  for (int64_t j = 0; j < n; ++j) {
    const double turn =
        2 * std::numbers::pi * static_cast<double>(j * k % n) / static_cast<double>(n);
    sum += x[j] * std::polar(1.0, inverse ? turn : -turn);
  }
  return sum;
}

void ExpectRight(int64_t n, int64_t step) {
  const std::vector<Complex> x = Wave(n);
  for (bool inverse : {false, true}) {
    const std::vector<Complex> got = Transform(x, inverse);
    for (int64_t k = 0; k < n; k += step)
      EXPECT_LT(std::abs(got[k] - Sum(x, k, inverse)), 1e-13 * static_cast<double>(n))
          << n << " at " << k << " inverse " << inverse;
  }
}

TEST(Fourier, EveryShortLength) {
  for (int64_t n = 1; n <= 130; ++n) ExpectRight(n, 1);
}

TEST(Fourier, LongLengthsWithSmallAndLargePrimeFactors) {
  for (int64_t n : {1024, 6000, 1009, 31 * 31 * 4, 37 * 64, 65536}) ExpectRight(n, n / 7);
}

TEST(Fourier, InverseGivesBackTheSignal) {
  for (int64_t n : {5, 64, 1009}) {
    const std::vector<Complex> x = Wave(n), back = Transform(Transform(x, false), true);
    for (int64_t j = 0; j < n; ++j)
      EXPECT_LT(std::abs(back[j] / static_cast<double>(n) - x[j]), 1e-13);
  }
}

TEST(Fourier, LengthsBeyondMemoryAreErrors) {
  EXPECT_EQ(Fourier::Make(int64_t{1} << 40).status().code(), absl::StatusCode::kResourceExhausted);
}

}  // namespace
}  // namespace tenon::cpu
