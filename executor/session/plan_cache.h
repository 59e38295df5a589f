// The plans of an executable, by the shapes of its feeds. A full cache drops the plan that was
// least recently used.
#pragma once

#include <algorithm>
#include <atomic>
#include <memory>
#include <vector>

#include "absl/synchronization/mutex.h"
#include "absl/types/span.h"
#include "executor/run/frame_pool.h"
#include "executor/run/plan.h"

namespace tenon {

// A plan with the frames of its runs. Runs at once share it; only `frames`, `used` and `is_dropped`
// change.
struct CachedPlan {
  static constexpr size_t kBriefNodes = 256;  // a plan of more steps is not brief

  std::vector<Shape> shapes;  // of the feeds, in their order
  bool is_alone = false;      // for runs on one thread, of which many go on at once
  std::shared_ptr<const Plan> plan;
  FramePool frames;
  // The time of the last use, in ticks of the cache's clock. Uses in a row may count as one.
  std::atomic<int64_t> used{0};
  int64_t bytes = 0;  // HeldBytes(*plan)
  // Whether a run takes some microseconds at most, by the estimated times, on one thread, and its
  // frame has little memory. Known of plans that have step_costs_us.
  bool is_brief = false;
  // The cache has the plan no more. A run that has found it before may still begin.
  std::atomic<bool> is_dropped{false};

  // Whether the plan is for feeds of these shapes.
  bool Serves(absl::Span<const Tensor> feeds) const;
};

// The bytes that go when the plan goes: its tables, and the constants that no other plan and no
// session shares. Neither states of kernels count nor the memory of frames, which sessions share
// but for small arenas.
int64_t HeldBytes(const Plan& plan);

// Shares the ownership of plans: a dropped plan lives while a run or a caller holds it.
// Thread-safe.
class PlanCache {
 public:
  // Holds at most `max_plans` plans, where a number below 1 counts as 1, that hold at most
  // `max_bytes` together (HeldBytes). One plan may be larger than that.
  PlanCache(int max_plans, int64_t max_bytes)
      : max_plans_(static_cast<size_t>(std::max(max_plans, 1))), max_bytes_(max_bytes) {}

  // The plan for feeds of these shapes and for runs on one thread (`is_alone`) or on all; null if
  // there is none. Counts as a use of the plan. Types are not compared, since the graph fixes them.
  std::shared_ptr<CachedPlan> Find(absl::Span<const Tensor> feeds, bool is_alone);
  // Adds such a plan, of which the cache must have none, and returns the entry. Counts as a use.
  // While there are too many plans, or they hold too many bytes, drops the one of the others that
  // was least recently used. Sets `*dropped`, which must not be null, to whether it dropped one.
  std::shared_ptr<CachedPlan> Add(absl::Span<const Tensor> feeds, bool is_alone,
                                  std::shared_ptr<const Plan> plan, bool* dropped);
  // Whether a plan that holds as much as `plan` would fit in beside all others.
  bool HasRoomForAnother(const CachedPlan& plan) const;
  // Counts as a use of a plan that Find or Add has returned.
  void NoteUse(CachedPlan& plan);
  // Drops all plans.
  void Clear();

  // The plan for runs on all threads that was used last; null if the cache has none.
  std::shared_ptr<const Plan> last() const;
  // The number of plans, at most max_size().
  int64_t size() const;
  int64_t max_size() const { return static_cast<int64_t>(max_plans_); }

 private:
  const size_t max_plans_;
  const int64_t max_bytes_;
  std::atomic<int64_t> clock_{0};
  mutable absl::Mutex mutex_;
  std::vector<std::shared_ptr<CachedPlan>> entries_ ABSL_GUARDED_BY(mutex_);
  int64_t bytes_ ABSL_GUARDED_BY(mutex_) = 0;  // of all entries
};

}  // namespace tenon
