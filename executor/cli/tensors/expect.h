// Compares the results of a graph with what is expected.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "graph/tensor/tensor.h"

namespace tenon::cli {

// An element is right if |got - want| <= atol + rtol * |want|. Each part of a complex number is
// compared by itself, with |want| of the whole number. Infinities are right if they are equal.
struct Tolerance {
  double rtol = 1e-5;
  double atol = 1e-6;
  std::optional<int64_t> max_ulp;  // a float at most so many steps away is right too
  bool equal_nan = false;          // NaN equals NaN
  // Integers are compared so too; otherwise they must be equal, as bools and strings always must.
  bool integers = false;
};

// The result of a comparison. The largest differences are over all elements, right ones included.
struct Comparison {
  bool ok = true;
  // Types and shapes are equal; otherwise max_abs, max_rel and max_ulp say nothing.
  bool comparable = true;
  std::string problem;  // the types or shapes, or the first wrong element; empty if ok
  double max_abs = 0;   // NaN if one side alone has a NaN
  double max_rel = 0;
  int64_t max_ulp = 0;          // in floating-point steps; 0 for other types
  int64_t mismatches = 0;       // wrong elements
  bool nan_both_sides = false;  // a wrong element is one that Tolerance::equal_nan would allow
};

// Never fails. A wrong type or shape makes every element wrong.
Comparison Compare(const Tensor& got, const Tensor& want, const Tolerance& tolerance);

}  // namespace tenon::cli
