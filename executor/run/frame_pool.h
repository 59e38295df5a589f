// The idle frames of a plan, kept for its next runs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "executor/run/frame.h"

namespace tenon {

// Owns the idle frames. All frames belong to one plan, which must outlive the pool. A frame of a
// plan with a small arena keeps its arena (ArenaPool::kOwnBytes). The pool keeps as many frames as
// ran at once lately: after every kWindow runs it frees those that were idle during all of these
// runs. A pool that nobody uses frees nothing. Thread-safe.
class FramePool {
 public:
  static constexpr int64_t kWindow = 1024;

  // Hands an idle frame to the caller; makes a new one if none is idle. `plan` must be the same in
  // all calls. Errors are those of Frame::Create.
  absl::StatusOr<std::unique_ptr<Frame>> Take(const Plan& plan);
  // Takes a frame back. Its run must have ended (Frame::End).
  void Return(std::unique_ptr<Frame> frame);
  size_t num_idle() const;

 private:
  using Frames = std::vector<std::unique_ptr<Frame>>;
  // Ends a window: hands out the frames that were idle all the time.
  Frames Unneeded() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  mutable absl::Mutex mutex_;
  Frames idle_ ABSL_GUARDED_BY(mutex_);             // last used last
  size_t fewest_idle_ ABSL_GUARDED_BY(mutex_) = 0;  // in this window
  int64_t runs_ ABSL_GUARDED_BY(mutex_) = 0;        // of this window
};

}  // namespace tenon
