// Runs one executable again and again: so many times or for so long, on one thread or many.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "executor/cli/options/run_flags.h"
#include "executor/session/session.h"
#include "tenon/graph_run.h"

namespace tenon::cli {

// How often to run.
struct Repetition {
  int64_t runs = 1;                 // at most, of all threads together
  double seconds = 0;               // if above 0: each thread stops after so long
  int threads = 1;                  // that run the executable at the same time
  RunRecorder* recorder = nullptr;  // borrowed, records all runs; may be null
};

// The repetition of --runs, --seconds and --concurrency. `fallback` counts if neither --runs nor
// --seconds is given.
Repetition RepetitionFrom(const RepeatFlags& flags, Repetition fallback);

// The measurements of a repetition.
struct Repeated {
  std::vector<double> run_us;  // microseconds of each run, by thread, then in order
  double wall_s = 0;           // seconds from the first run's begin to the last one's end
  std::vector<Tensor> values;  // fetches of the last run of the first thread
  int64_t allocations = -1;    // of all runs; -1: not counted
};

// Runs so many times without measuring. A number below 1 runs nothing.
absl::Status Warm(Session& session, Executable* executable, const std::vector<Tensor>& feeds,
                  int64_t runs);

// Runs and measures. All threads start together. Each stops after the run in which an interruption
// came. The error of a run ends its thread; when all threads have ended, the error of the first
// such thread is returned. RESOURCE_EXHAUSTED: the system has no more threads. `allocations` may be
// null.
absl::StatusOr<Repeated> Repeat(Session& session, Executable* executable,
                                const std::vector<Tensor>& feeds, const Repetition& repetition,
                                AllocationCounter allocations);

}  // namespace tenon::cli
