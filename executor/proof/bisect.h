// Finds which of many steps make a result wrong. Each faulty step of n takes O(log n) trials.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace tenon {

// What came of one trial.
struct Trial {
  std::string wrong;  // how the result is wrong; empty: it is right
  // The names of all steps in their order, those that were not made included. A step must have the
  // same name in every trial.
  std::vector<std::string> asked;
};
// Makes the first `limit` steps, and of the later ones those that `beyond` names. An error ends the
// search.
using RunTrial =
    std::function<absl::StatusOr<Trial>(int64_t limit, absl::Span<const std::string> beyond)>;

struct Bisection {
  std::string wrong;         // how the result of all steps is wrong; empty: it is right
  bool without_any = false;  // the result is wrong without any step too; then `faulty` is empty
  // The steps that were found, the last step first. They are enough to make the result wrong by
  // themselves if `wrong_with_faulty` is not empty.
  std::vector<std::string> faulty;
  std::string wrong_with_faulty;  // how the result is wrong with `faulty` alone; empty: it is right
  int64_t steps = 0;              // that there are
  int64_t trials = 0;             // that were run
};

// Finds the step with which the result turns wrong as steps are added one by one. While the steps
// found so far leave the result right when they are alone, finds the step that they need besides,
// up to 8 steps. Most faults are one step, some a pair. INTERNAL if the same steps do not give the
// same result.
absl::StatusOr<Bisection> Bisect(const RunTrial& run);

}  // namespace tenon
