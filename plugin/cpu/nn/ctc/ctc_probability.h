// Arithmetic of probabilities that are stored as logarithms.
#pragma once

#include <cmath>
#include <limits>

namespace tenon::cpu {

inline constexpr double kNever = -std::numeric_limits<double>::infinity();  // log of 0

// Returns log(exp(a) + exp(b)). Only exp(least - greatest) is computed, which cannot overflow.
inline double AddLogs(double a, double b) {
  if (a == kNever) return b;
  if (b == kNever) return a;
  return a > b ? a + std::log1p(std::exp(b - a)) : b + std::log1p(std::exp(a - b));
}

}  // namespace tenon::cpu
