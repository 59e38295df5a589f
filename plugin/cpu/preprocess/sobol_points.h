// Points of a Sobol sequence.
#pragma once

#include <cstdint>

namespace tenon::cpu {

constexpr int64_t kMostSobolDimensions = 3667;  // the table of primitive polynomials has no more

// Writes `points` points of `dimensions` coordinates in [0, 1), after `skipped` points that are
// left out. A coordinate that is nearly 1 is rounded to 1: a float from about point 2^24 on. The
// origin is no point of the sequence, as in TensorFlow. `out` has points * dimensions elements: the
// coordinates of a point stand beside each other. Nothing checks the numbers.
struct SobolPoints {
  int64_t dimensions, points, skipped;  // 1 to kMostSobolDimensions, at least 0, at least 0
  void Write(float* out) const;
  void Write(double* out) const;
};

}  // namespace tenon::cpu
