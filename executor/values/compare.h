// Compares a tensor with the one that it should equal. Whoever compares answers (`--expect`,
// `check`, `bisect`, the verifier of passes) does it here; what they demand is a Tolerance.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "graph/tensor/tensor.h"

namespace tenon::cli {

// The magnitude that Tolerance::rtol is a fraction of.
enum class Scale : uint8_t {
  kElement,  // |want| of the element; of a complex number that of the whole, 0 unless it is finite
  kLargest,  // the largest finite |want| of the tensor; 0 for integers
};

// What is right. A float element is right if |got - want| <= atol + rtol * scale; each part of a
// complex number must be. An infinity equals itself alone, and a NaN equals nothing. Integers,
// bools and strings are exact.
struct Tolerance {
  double rtol = 1e-5;
  double atol = 1e-6;
  Scale scale = Scale::kElement;
  // Also right: finite floats at most so many floating-point steps apart. Not for complex numbers.
  std::optional<int64_t> max_ulp = std::nullopt;
  bool equal_nan = false;   // any NaN equals any other
  bool integers = false;    // integers may differ as floats may; bools and strings never
  bool zero_signs = false;  // 0 is not -0, whatever atol is; with max_ulp only in complex numbers
  // Denormals equal zeros and each other, of either sign unless `zero_signs`: arithmetic flushes
  // them, moving data does not. Of half and smaller types nothing is flushed.
  bool flush_denormals = false;
  // Only floats and complex numbers are compared. Types and ranks must be the same, but sizes of
  // dimensions may differ (then no element is compared), and elements of other types may have any
  // value: both may follow from a rounded value.
  bool floats_only = false;
};

struct Comparison {
  bool ok = true;
  bool comparable = true;  // dtypes and shapes are the same; else the largest differences are void
  // What is said of `got`: the first wrong element, "element [1,2] is 3.5 where 3.25 is right,
  // 1048576 ulps away", or if not comparable "is f32[2] where f32[3] is right". Empty if ok.
  std::string problem;
  double max_abs = 0;  // the largest difference; NaN where only one side is NaN
  // The largest difference as a fraction of |want|; infinite where |want| alone is 0.
  double max_rel = 0;
  // Of float types; 0 otherwise. From the largest float to an infinity it is one step.
  int64_t max_ulp = 0;
  int64_t mismatches = 0;
  bool nan_both_sides = false;  // an element is wrong that Tolerance::equal_nan would allow
};

// Compares host tensors of numbers, bools or strings. The largest differences are those of all
// elements, also of right ones; strings have none. Never fails: tensors that differ in dtype or
// shape are wrong, even without elements, and every element of the larger one is a mismatch. Two
// tensors without a value are the same. What Tolerance::floats_only leaves out gives an empty
// Comparison, which is ok.
Comparison Compare(const Tensor& got, const Tensor& want, const Tolerance& tolerance);

}  // namespace tenon::cli
