// Which of many steps make a result wrong, in O(log n) trials each.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace tenon {

// The result with the first `limit` steps, and those of `beyond` wherever they stand.
struct Trial {
  std::string wrong;               // how the result is wrong; empty: it is right
  std::vector<std::string> asked;  // the steps, by what names them from trial to trial
};
using RunTrial =
    std::function<absl::StatusOr<Trial>(int64_t limit, absl::Span<const std::string> beyond)>;

struct Bisection {
  std::string wrong;         // with all steps; empty: nothing is, and there are no culprits
  bool without_any = false;  // it is wrong with none of them, too
  std::vector<std::string>
      culprits;               // enough to make it wrong by themselves; the last to come first
  std::string with_culprits;  // how the result is wrong with the culprits alone
  int64_t steps = 0, trials = 0;
};

// The step that, put behind those before it, makes the result wrong; then, as long as the steps
// that were found are harmless alone, the one without which they are. Usually one, sometimes a
// pair.
absl::StatusOr<Bisection> Bisect(const RunTrial& run);

}  // namespace tenon
