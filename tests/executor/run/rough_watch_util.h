// A watch that makes faults of a schedule or of an arena visible.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "absl/synchronization/mutex.h"
#include "executor/run/plan.h"
#include "executor/run/step_watch.h"

namespace tenon::testing {

// Fills planned memory with bytes 0xff, which are NaN in each float: what a step will write, unless
// it may write over an input, before the step; and what no step of the run uses any more. Delays
// some steps, others in each run. Where there are devices, which work on memory beside steps,
// memory is filled before steps alone. For one session. Thread-safe.
class RoughWatch : public StepWatch {
 public:
  // How often memory was filled before and after steps.
  struct Filled {
    std::atomic<int64_t> before{0}, after{0};
  };
  // `filled` must outlive the watch.
  RoughWatch(uint32_t seed, Filled& filled) : random_(seed), filled_(filled) {}
  void BeforeStep(Frame& frame, size_t step) override;
  void AfterStep(Frame& frame, size_t step) override;

 private:
  // By storage: how many steps of the graph's row use it; -1: it is not in the arena, or steps of
  // branches and loops use it.
  using Uses = std::vector<int32_t>;
  static Uses FindUses(const Plan& plan);
  using Left = std::shared_ptr<std::atomic<int32_t>[]>;  // by storage: uses that are to come
  Left LeftOf(const Frame& frame);
  void Delay();

  std::atomic<uint32_t> random_;
  Filled& filled_;
  absl::Mutex mutex_;
  std::map<int64_t, Left> runs_ ABSL_GUARDED_BY(mutex_);  // by RunContext::step_id
};

}  // namespace tenon::testing
