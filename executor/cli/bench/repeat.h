// One executable run again and again: so many times, or for so long, on one thread or many.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "executor/cli/options/run_flags.h"
#include "executor/session/session.h"
#include "tenon/graph_run.h"

namespace tenon::cli {

struct Repetition {
  int64_t runs = 1;    // of all threads together
  double seconds = 0;  // if above 0: stop after so long
  int threads = 1;
  RunRecorder* recorder = nullptr;  // of all runs, if anybody asks
};

// What --runs, --seconds and --concurrency say; `fallback` where neither of the first two is given.
Repetition RepetitionFrom(const RepeatFlags& flags, Repetition fallback);

struct Repeated {
  std::vector<double> run_us;  // of each run, those of a thread in their order
  double wall_s = 0;
  std::vector<Tensor> values;  // of the first thread's last run
  int64_t allocations = -1;    // of all runs; -1: nobody counts
};

// Runs before those that count.
absl::Status Warm(Session& session, Executable* executable, const std::vector<Tensor>& feeds,
                  int64_t runs);

// All threads start together; each stops after its run when somebody interrupts. The error of a run
// ends its thread, and is the answer. RESOURCE_EXHAUSTED where the system has no more threads.
absl::StatusOr<Repeated> Repeat(Session& session, Executable* executable,
                                const std::vector<Tensor>& feeds, const Repetition& repetition,
                                AllocationCounter allocations);

}  // namespace tenon::cli
