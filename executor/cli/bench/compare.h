// Times two executables in turns, so that other work of the machine slows both of them.
#pragma once

#include <vector>

#include "absl/status/statusor.h"
#include "executor/cli/bench/repeat.h"

namespace tenon::cli {

// One of the two executables. All members are borrowed.
struct Contender {
  Session& session;
  Executable* executable;  // of `session`; not null
  // RunInTurns appends the time of each run in a block to run_us, and adds the block's wall_s and
  // allocations. It leaves `values`.
  Repeated& runs;
};

// Runs `first` and `second` on the same feeds, strictly in turns, in blocks of about 10 ms. Each
// block follows one of the other executable, and so finds the caches as the other left them:
// neither is the warmer one. A caller that asks for several comparisons lets the two change places,
// since a drift of the machine favours one place.
//
// Before the blocks, each executable in turn runs on one thread for 10 ms, but at least once and at
// most 16,384 times. Then each runs once more, so that none is the warmer one. None of these runs
// is in Contender::runs.
//
// A block has as many runs for each thread as the slower executable does on one thread in 10 ms.
// But a block has at most an eighth of repetition.runs, and at least one run for each thread. The
// last block may be shorter.
//
// Returns how many times longer a run of `second` takes than one of `first`; above 1, `second` is
// the slower one. This is the median, over pairs of blocks, of the MiddleMean of second's block
// divided by that of first's.
//
// `repetition`: each of the two does repetition.runs runs, at least 1, on repetition.threads
// threads. If repetition.seconds is above 0, the turns also end when both together have run for
// twice that time. repetition.recorder and repetition.finished are not used. `allocations` may be
// null.
//
// An interruption ends the turns after the pair of blocks in which it came; the pairs so far make
// the result. At least one pair runs. Errors are those of Repeat. After an error, Contender::runs
// have the blocks before it.
absl::StatusOr<double> RunInTurns(const Contender& first, const Contender& second,
                                  const std::vector<Tensor>& feeds, const Repetition& repetition,
                                  AllocationCounter allocations);

}  // namespace tenon::cli
