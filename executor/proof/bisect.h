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
  // How the result is wrong with `faulty` alone. Empty: it is right, or `faulty` is empty.
  std::string wrong_with_faulty;
  int64_t steps = 0;   // that the trial of all steps named
  int64_t trials = 0;  // that were run
};

// Finds, by halves, a step with which the result turns wrong as steps are added in their order; if
// there are several such steps, any one of them. While the steps found so far leave the result
// right when they are alone, finds the step that they need besides, up to 8 steps. Most faults are
// one step, some a pair. If the steps do not keep their names or the same steps give another
// result, the search may return INTERNAL, end early with an empty `wrong_with_faulty`, or find the
// wrong steps. Other errors are those of `run`.
absl::StatusOr<Bisection> Bisect(const RunTrial& run);

}  // namespace tenon
