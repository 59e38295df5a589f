// What the last brief run of each thread leaves for the thread's next one.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>

#include "absl/types/span.h"
#include "executor/run/frame.h"
#include "executor/session/plan_cache.h"
#include "graph/tensor/tensor.h"

namespace tenon {

// Of an executable. A thread that runs a brief plan (CachedPlan::is_brief) finds the plan and a
// frame of its last run here, in memory that other threads do not write: runs of a microsecond, on
// many cores, would otherwise wait for each other's locks and counters. Keeps at most one frame in
// each of kShards shards. The process numbers the threads that come here, for all objects of this
// class together: thread n has shard n % kShards. Thread-safe.
class LastRuns {
 public:
  static constexpr int kShards = 64;

  // What is kept. `plan` and `frame` are never null.
  struct Run {
    std::shared_ptr<CachedPlan> plan;
    std::unique_ptr<Frame> frame;
    // The numbers [next_step, end_step) of runs that are left to whoever takes this.
    int64_t next_step = 0, end_step = 0;
  };

  LastRuns();
  ~LastRuns();
  LastRuns(const LastRuns&) = delete;
  LastRuns& operator=(const LastRuns&) = delete;

  // Hands out what the last run in the thread's shard left, if its plan serves feeds of these
  // shapes and was not dropped from its cache: a hit. Else returns null, and what was left is gone
  // from the shard; a frame of a plan that was not dropped goes to the plan's pool. Also returns
  // null while LetDroppedGo of another thread looks at what was left, which then stays.
  std::unique_ptr<Run> Take(absl::Span<const Tensor> feeds);
  // Keeps `run`, which must have ended (Frame::End), for the next run of this thread. Gives the
  // frame to its plan's pool if another thread has left something in the same shard meanwhile.
  // Destroys `run` if its plan was dropped.
  void Keep(std::unique_ptr<Run> run);
  // Lets go of all that belongs to plans with CachedPlan::is_dropped. To be called whenever plans
  // were dropped. What threads have taken out meanwhile goes when they want to keep it.
  void LetDroppedGo();

  // How often Take found what it looked for.
  int64_t hits() const;

 private:
  // A cache line for each, so that threads do not write to one line.
  struct alignas(64) Shard {
    std::atomic<Run*> run{nullptr};  // owned
    std::atomic<int64_t> hits{0};
  };
  Shard& Mine();

  std::unique_ptr<std::array<Shard, kShards>> shards_;
  std::atomic<int64_t> drops_{0};  // calls of LetDroppedGo
};

}  // namespace tenon
