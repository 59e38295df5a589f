// How far the answers of two configurations are from each other.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "executor/values/json.h"
#include "executor/values/text.h"
#include "graph/tensor/tensor.h"

namespace tenon::cli {

// What one fetch of b is beside the same fetch of a. The numbers are those of all elements; an
// element that is NaN or infinite in one alone makes `max_abs` NaN or infinite.
struct FetchDifference {
  std::string name;
  // Why there are no numbers: the types or shapes differ, or elements that are no numbers. Else
  // empty.
  std::string problem;
  double max_abs = 0;     // the largest difference
  double of_largest = 0;  // max_abs as a fraction of a's largest finite magnitude; 0 if both are 0
  // The root of the sum of squares of the differences, by that of a's finite values.
  double of_rms = 0;
  int64_t differing = 0;  // elements that are not equal; NaN equals NaN
  int64_t elements = 0;
};
// Host tensors, or two tensors without a value, which are the same.
FetchDifference DifferenceOf(std::string_view name, const Tensor& a, const Tensor& b);

// An array with an object for each fetch: "name", "elements", "differing", "max_abs", "of_largest",
// "of_rms", and "problem" where there is one.
Json DifferencesJson(const std::vector<FetchDifference>& differences);
// A line for each fetch that differs, or one line if none does.
std::string DifferencesText(const std::vector<FetchDifference>& differences, const Style& style);

}  // namespace tenon::cli
