// Runs one executable again and again: so many times or for so long, on one thread or many.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "executor/cli/options/run_flags.h"
#include "executor/session/session.h"
#include "tenon/graph_run.h"

namespace tenon::cli {

// How often to run. `runs` and `threads` must be at least 1.
struct Repetition {
  int64_t runs = 1;    // at most, of all threads together
  double seconds = 0;  // if above 0: each thread stops after the run that reaches this time
  int threads = 1;     // that run the executable at the same time; no more than `runs` start
  RunRecorder* recorder = nullptr;  // borrowed, records all runs; may be null
};

// The repetition of --runs, --seconds and --concurrency. If neither --runs nor --seconds is given,
// seconds and recorder are those of `fallback`, and so is runs, unless `fallback` limits the time.
// If one of the two flags is given, nothing is taken from `fallback`; without --seconds the time
// has no limit then, and there is no recorder. The threads are always those of --concurrency. If
// there is a limit of time and no --runs, `runs` is 2^20 for each thread.
Repetition RepetitionFrom(const RepeatFlags& flags, Repetition fallback);

// The measurements of a repetition.
struct Repeated {
  std::vector<double> run_us;  // microseconds of each run, by thread, then in order
  double wall_s = 0;           // seconds from the first run's begin to the last one's end
  std::vector<Tensor> values;  // fetches of the last run of the first thread
  int64_t allocations = -1;    // of the whole process while the runs went on; -1: not counted
};

// An interruption is a SIGINT while a StopOnInterrupt of the caller lives (faults/interrupt.h).
// Without one, SIGINT ends the process.

// Runs so many times without measuring. A number below 1 runs nothing. Returns the first error,
// after which it runs no more. An interruption does not stop it.
absl::Status Warm(Session& session, Executable* executable, const std::vector<Tensor>& feeds,
                  int64_t runs);

// Runs and measures. All threads start together. Each stops after the run in which an interruption
// came. The error of a run ends its own thread alone. When all threads have ended, returns the
// error of the thread with the lowest number, and no measurements. If the system has no more
// threads, nothing runs: RESOURCE_EXHAUSTED. A run without memory has the same code. `allocations`
// may be null: then nothing is counted.
absl::StatusOr<Repeated> Repeat(Session& session, Executable* executable,
                                const std::vector<Tensor>& feeds, const Repetition& repetition,
                                AllocationCounter allocations);

}  // namespace tenon::cli
