// Runs one executable again and again: so many times or for so long, on one thread or many.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>
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
  // If given, counts the runs of the first thread, for progress. Borrowed.
  std::atomic<int64_t>* finished = nullptr;
};

// The repetition that --runs, --seconds and --concurrency ask for:
// * `threads` is --concurrency.
// * `seconds` is --seconds. Without --seconds it is 0 if --runs is given, else that of `fallback`.
// * `runs` is --runs. Without --runs it is 2^20 for each thread if `seconds` is above 0, else that
//   of `fallback`.
// * `recorder` and `finished` are those of `fallback`, but null if --runs or --seconds is given.
Repetition RepetitionFrom(const RepeatFlags& flags, Repetition fallback);

// The measurements of a repetition.
struct Repeated {
  std::vector<double> run_us;  // microseconds of each run, by thread, then in order
  double wall_s = 0;           // seconds from the first run's begin to the last one's end
  std::vector<Tensor> values;  // fetches of the last run of the first thread
  int64_t allocations = -1;    // of the whole process while the runs went on; -1: not counted
};

// An interruption is a SIGINT or SIGTERM that came while a StopOnInterrupt lived
// (faults/interrupt.h). Without one the signal ends the process.

// Runs so many times without measuring. A number below 1 runs nothing. Returns the first error,
// after which it runs no more. An interruption does not stop it.
absl::Status Warm(Session& session, Executable* executable, const std::vector<Tensor>& feeds,
                  int64_t runs);

// The line of a Ticker for a repetition that began with the ticker: what is done, a bar, and how
// many runs. `finished` is the count of Repetition::finished.
std::string RepetitionText(std::string_view what, const Repetition& repetition, double seconds,
                           int64_t finished);

// Runs and measures. All threads start together. Each stops after the run in which an interruption
// came. The error of a run ends its own thread alone. When all threads have ended, returns the
// error of the thread with the lowest number, and no measurements. RESOURCE_EXHAUSTED: the system
// has no more threads, and nothing has run; or a run lacks memory. Throws std::bad_alloc without
// memory for the measurements, 8 bytes for each run that may come, and for the threads' own copies
// of `feeds`. `allocations` may be null: then nothing is counted.
absl::StatusOr<Repeated> Repeat(Session& session, Executable* executable,
                                const std::vector<Tensor>& feeds, const Repetition& repetition,
                                AllocationCounter allocations);

}  // namespace tenon::cli
