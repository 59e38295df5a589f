// Comparing what a graph answers with what it should.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "graph/tensor/tensor.h"

namespace tenon::cli {

// An element is right if |got - want| <= atol + rtol * |want|, each part of a complex number by
// itself against |want|.
struct Tolerance {
  double rtol = 1e-5;
  double atol = 1e-6;
  std::optional<int64_t> max_ulp;  // also right: floats at most so many steps away
  bool equal_nan = false;
  bool integers =
      false;  // also for integers, which are exact otherwise; never for bools and strings
};

struct Comparison {
  bool ok = true;
  bool comparable = true;  // dtypes and shapes are the same; else the largest differences are void
  std::string problem;     // dtype or shape differ, or the first wrong element; empty if ok
  double max_abs = 0;      // largest difference; NaN where only one side is NaN
  double max_rel = 0;
  int64_t max_ulp = 0;  // of float types; 0 otherwise
  int64_t mismatches = 0;
  bool nan_both_sides = false;  // among them is one that Tolerance::equal_nan allows
};

// Never fails: a wrong dtype or shape is a mismatch of every element.
Comparison Compare(const Tensor& got, const Tensor& want, const Tolerance& tolerance);

}  // namespace tenon::cli
