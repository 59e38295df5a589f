// Two executables in turns, so that whatever else the machine does hits both.
#pragma once

#include <vector>

#include "absl/status/statusor.h"
#include "executor/cli/bench/repeat.h"

namespace tenon::cli {

struct Contender {
  Session& session;
  Executable* executable;
  Repeated& runs;  // those that count go behind what it holds
};

// Runs blocks of some milliseconds: a b, b a, a b, … and tells how many times longer a run of `b`
// takes than one of `a`: the median of the ratios of their blocks' middle means. `repetition` says
// how many runs, or seconds, each of them gets.
absl::StatusOr<double> RunInTurns(const Contender& a, const Contender& b,
                                  const std::vector<Tensor>& feeds, const Repetition& repetition,
                                  AllocationCounter allocations);

}  // namespace tenon::cli
