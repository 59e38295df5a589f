// Times two executables in turns, so that other work of the machine slows both of them.
#pragma once

#include <vector>

#include "absl/status/statusor.h"
#include "executor/cli/bench/repeat.h"

namespace tenon::cli {

// One of the two. All members are borrowed.
struct Contender {
  Session& session;
  Executable* executable;
  Repeated& runs;  // the runs that count are added to it
};

// Runs blocks of some milliseconds: a b, b a, a b, … Returns how many times longer a run of `b`
// takes than one of `a`: the median over pairs of blocks of the ratio of their middle means.
// `repetition` is for each of the two. An interruption ends the turns early. Errors are those of
// runs.
absl::StatusOr<double> RunInTurns(const Contender& a, const Contender& b,
                                  const std::vector<Tensor>& feeds, const Repetition& repetition,
                                  AllocationCounter allocations);

}  // namespace tenon::cli
