// Runs two executables in turns, in blocks of about 10 ms. The middle mean of a block stands for
// its runs.

#include "executor/cli/bench/compare.h"

#include <algorithm>

#include "executor/cli/faults/interrupt.h"
#include "executor/values/statistics.h"
#include "graph/base/status_macros.h"

namespace tenon::cli {
namespace {

// Long beside a switch from one executable to the other, short beside other work of the machine.
constexpr double kBlockSeconds = 0.01;
// A number of runs is split into at least so many blocks.
constexpr int64_t kBlocks = 8;
// The most runs of a trial that finds out how long one run takes.
constexpr int64_t kTrialRuns = 1 << 14;

// Runs one block and returns the middle mean of its runs in microseconds.
absl::StatusOr<double> RunBlock(const Contender& c, const std::vector<Tensor>& feeds,
                                const Repetition& block, AllocationCounter allocations) {
  TENON_ASSIGN_OR_RETURN(Repeated runs, Repeat(c.session, c.executable, feeds, block, allocations));
  c.runs.run_us.insert(c.runs.run_us.end(), runs.run_us.begin(), runs.run_us.end());
  c.runs.wall_s += runs.wall_s;
  if (runs.allocations >= 0)
    c.runs.allocations = std::max<int64_t>(c.runs.allocations, 0) + runs.allocations;
  return MiddleMean(std::move(runs.run_us));
}

// The runs in a block: those that the slower of the two does in kBlockSeconds.
absl::StatusOr<int64_t> BlockLength(const Contender& first, const Contender& second,
                                    const std::vector<Tensor>& feeds,
                                    const Repetition& repetition) {
  double slowest = 0;
  for (const Contender* c : {&first, &second}) {
    const Repetition trial{.runs = kTrialRuns, .seconds = kBlockSeconds};
    TENON_ASSIGN_OR_RETURN(const Repeated runs,
                           Repeat(c->session, c->executable, feeds, trial, nullptr));
    slowest = std::max(slowest, MiddleMean(runs.run_us) * 1e-6);
  }
  const int64_t threads = repetition.threads;
  const auto in_time = static_cast<int64_t>(kBlockSeconds / std::max(slowest, 1e-9)) * threads;
  return std::clamp<int64_t>(std::min(in_time, repetition.runs / kBlocks), threads,
                             std::max<int64_t>(threads, repetition.runs));
}

}  // namespace

absl::StatusOr<double> RunInTurns(const Contender& first, const Contender& second,
                                  const std::vector<Tensor>& feeds, const Repetition& repetition,
                                  AllocationCounter allocations) {
  TENON_ASSIGN_OR_RETURN(const int64_t length, BlockLength(first, second, feeds, repetition));
  // After its trial `second` is warmer than `first` is after the other's.
  for (const Contender* c : {&first, &second})
    TENON_RETURN_IF_ERROR(Warm(c->session, c->executable, feeds, 1));
  Repetition block{.runs = length, .threads = repetition.threads};
  std::vector<double> ratios;
  double seconds = 0;
  for (int64_t left = repetition.runs; left > 0; left -= block.runs) {
    block.runs = std::min(length, left);
    const double before = first.runs.wall_s + second.runs.wall_s;
    TENON_ASSIGN_OR_RETURN(const double first_us, RunBlock(first, feeds, block, allocations));
    TENON_ASSIGN_OR_RETURN(const double second_us, RunBlock(second, feeds, block, allocations));
    ratios.push_back(second_us / first_us);
    seconds += first.runs.wall_s + second.runs.wall_s - before;
    if (Interrupted() || (repetition.seconds > 0 && seconds >= 2 * repetition.seconds)) break;
  }
  return EstimateMedian(std::move(ratios)).median;
}

}  // namespace tenon::cli
